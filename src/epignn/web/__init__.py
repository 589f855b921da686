"""The playground and its JSON API, `epignn serve`: every endpoint asks the reasoners, and has no logic of its own.

errors      what a request is refused for, with the status that says so
limits      how large a request may be, and how long it may take
shapes      requests and answers, typed
guard       what every request passes: host, origin, size; and the headers of every answer
worker      a process that does the work of requests, one after the other
workers     the server's side of such processes
networks, calculi, graphs, models, results, folders, vectors
            what a worker does for the endpoints
example_files, experiments
            facts and graphs to begin with; what can be trained
runs        training runs: begun, watched, stopped, resumed
services    workers and runs of a server, and how a request has its work done
asking, training
            the endpoints
app         all of them, the page, and what is answered when something goes wrong
server      a socket, and an orderly end
"""
