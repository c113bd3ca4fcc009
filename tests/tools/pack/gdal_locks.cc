// GDAL, which OpenCV's image files bring along, takes two locks of its own in either order when
// it is loaded. ThreadSanitizer asks this function what is not to be reported.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "deadlock:libgdal.so\n"; }
