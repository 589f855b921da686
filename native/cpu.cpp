// Which builds of the kernels this processor can run. A module of its own, without -march and without headers that
// others share, since a module built for more than the processor has may crash as soon as it is loaded.
#include <Python.h>

static const char* instruction_sets() {
#if defined(EPIGNN_LEVELS)
  if (__builtin_cpu_supports("x86-64-v4")) return "baseline v3 v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "baseline v3";
#endif
  return "baseline";
}

PyMODINIT_FUNC PyInit__cpu() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_cpu", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  PyObject* module = PyModule_Create(&definition);
  if (module) PyModule_AddStringConstant(module, "instruction_sets", instruction_sets());
  return module;
}
