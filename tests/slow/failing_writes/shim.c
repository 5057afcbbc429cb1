/* Makes one call that changes files below a folder fail, once. Preloaded into the program (LD_PRELOAD, Linux).
 * It wraps the calls that `nm -D siaga` lists.
 *
 * FAULT_FOLDER names the folder, FAULT_CONTROL the file that the test shares with all processes: a `struct control`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* What the failing call does before it returns an error. HALF writes half of the bytes. FULL does nothing: the disk is full. */
enum { NOTHING, FULL, HALF, ALL };

static struct control {
    _Atomic uint32_t calls; /* since the test armed it */
    _Atomic uint32_t failing; /* the number of the call that fails; 0: none */
    _Atomic uint32_t way;
} *control;
static const char *folder;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAULT_CONTROL");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    folder = getenv("FAULT_FOLDER");
    if (shared == MAP_FAILED || !folder) abort();
    control = shared;
    close(file);
}

/* Counts a call; returns whether it is the one that fails. */
static int fails_at(int parent, const char *name) {
    if (!control || !control->failing) return 0;
    char link[32], path[PATH_MAX] = "";
    if (name && (name[0] == '/' || parent == AT_FDCWD)) {
        snprintf(path, sizeof path, "%s", name);
    } else {
        int saved = errno;
        snprintf(link, sizeof link, "/proc/self/fd/%d", parent);
        if (readlink(link, path, sizeof path - 1) < 0) path[0] = 0;
        errno = saved;
    }
    return !strncmp(path, folder, strlen(folder)) && ++control->calls == control->failing;
}

static int fail(void) {
    errno = control->way == FULL ? ENOSPC : EIO;
    return -1;
}

static size_t part(size_t size) {
    return control->way == ALL ? size : control->way == HALF ? size / 2 : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Defines a function whose call happens whole or not at all. */
#define WRAP(name, parameters, arguments, parent, path)      \
    int name parameters {                                    \
        if (!fails_at(parent, path)) return REAL(name) arguments; \
        if (control->way == ALL) (void)REAL(name) arguments; \
        return fail();                                       \
    }

WRAP(fsync, (int file), (file), file, NULL)
WRAP(ftruncate64, (int file, off64_t size), (file, size), file, NULL)
WRAP(rename, (const char *from, const char *to), (from, to), AT_FDCWD, to)
WRAP(linkat, (int from, const char *old, int to, const char *new, int flags), (from, old, to, new, flags), to, new)
WRAP(unlink, (const char *path), (path), AT_FDCWD, path)
WRAP(unlinkat, (int parent, const char *path, int flags), (parent, path, flags), parent, path)
WRAP(rmdir, (const char *path), (path), AT_FDCWD, path)
WRAP(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)

ssize_t write(int file, const void *bytes, size_t size) {
    if (!fails_at(file, NULL)) return REAL(write)(file, bytes, size);
    if (part(size)) (void)REAL(write)(file, bytes, part(size));
    return fail();
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
    if (!fails_at(file, NULL)) return REAL(pwrite64)(file, bytes, size, at);
    if (part(size)) (void)REAL(pwrite64)(file, bytes, part(size), at);
    return fail();
}

/* Its first part is half of it. */
ssize_t writev(int file, const struct iovec *parts, int count) {
    if (!fails_at(file, NULL)) return REAL(writev)(file, parts, count);
    if (part(2)) (void)REAL(writev)(file, parts, part(2) == 2 ? count : 1);
    return fail();
}

/* Only the creation of a file changes the folder. */
#define OPEN(name)                                                                               \
    int name(const char *path, int flags, ...) {                                                 \
        va_list more;                                                                            \
        va_start(more, flags);                                                                   \
        mode_t mode = va_arg(more, mode_t);                                                      \
        va_end(more);                                                                            \
        int creates = (flags & O_CREAT) && access(path, F_OK);                                   \
        return creates && fails_at(AT_FDCWD, path) ? fail() : REAL(name)(path, flags, mode);     \
    }

OPEN(open)
OPEN(open64)
