"""What models are trained and tested on: published data sets, generated ones, files of one's own. No torch."""
