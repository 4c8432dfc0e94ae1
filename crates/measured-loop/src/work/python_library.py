# Asked of the user's interpreter: where its shared library is and what a program that embeds it
# must know. One line each.
import sys
import sysconfig

value = lambda name: str(sysconfig.get_config_var(name) or "")
places = [value("LIBDIR"), value("LIBDIR") + "/" + value("MULTIARCH"), sys.base_prefix + "/lib", ""]
print(sys.version.split()[0])
print(sys.base_prefix + ":" + sys.base_exec_prefix)
print(value("INSTSONAME"))
print("\t".join(places))
print("\t".join(path for path in sys.path if path))
