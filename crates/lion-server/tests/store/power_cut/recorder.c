// Records what a program asks a file system to do below one folder: loaded before the C library (LD_PRELOAD), it passes
// each call on and writes it down, in the order in which calls ended. Nothing is brought to the disk: a sync is only written
// down, because the test decides what a power cut leaves (disk.rs).
//
// A record is five numbers of 8 bytes (operation, file, position, length of a, length of b), then a and b. A file is its
// inode. Only what the project's programs call is covered: no mapped writes (SQLite maps only its index of the log, which is
// made anew after a crash) and no folders below the folder.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum operation { CREATE = 1, WRITE, TRUNCATE, SYNC, SYNC_FOLDER, RENAME, UNLINK };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static struct stat folder_stat;
static int log_file = -1;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int plain_open(const char *path, int flags, mode_t mode) {
    static __typeof__(&openat) next;
    if (!next) next = NEXT(openat);
    return next(AT_FDCWD, path, flags, mode);
}

static ssize_t plain_write(int file, const void *bytes, size_t length) {
    static __typeof__(&write) next;
    if (!next) next = NEXT(write);
    return next(file, bytes, length);
}

__attribute__((constructor)) static void start(void) {
    const char *in = getenv("LION_RECORD_FOLDER"), *out = getenv("LION_RECORD_LOG");
    if (!in || !out || !realpath(in, folder) || stat(folder, &folder_stat)) _exit(99);
    log_file = plain_open(out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_file < 0) _exit(99);
}

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t written = plain_write(log_file, at, length);
        if (written <= 0) _exit(99);
        at += written;
        length -= written;
    }
}

static void record(enum operation what, uint64_t file, uint64_t position, const void *a, size_t a_length,
                   const char *b) {
    uint64_t head[5] = {what, file, position, a_length, b ? strlen(b) : 0};
    put(head, sizeof head);
    put(a, a_length);
    if (b) put(b, head[4]);
}

// The name of a path in the folder; null for any other.
static const char *name_of(const char *path) {
    static __thread char parent[PATH_MAX];
    static __thread char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash) return realpath(".", real) && !strcmp(real, folder) ? path : NULL;
    size_t length = slash == path ? 1 : slash - path;
    if (length >= PATH_MAX) return NULL;
    memcpy(parent, path, length);
    parent[length] = 0;
    return realpath(parent, real) && !strcmp(real, folder) ? slash + 1 : NULL;
}

// The inode of an open file in the folder, or of the folder itself; 0 for any other. The folder has a file system's device,
// which other files may share, so files are looked for by name.
static uint64_t inode_of(int file, int *is_folder) {
    struct stat is;
    char link[64], path[PATH_MAX];
    int saved = errno;
    uint64_t found = 0;
    *is_folder = 0;
    if (file != log_file && !fstat(file, &is) && is.st_dev == folder_stat.st_dev) {
        if (is.st_ino == folder_stat.st_ino) {
            *is_folder = 1;
            found = is.st_ino;
        } else if (S_ISREG(is.st_mode)) {
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, path, sizeof path - 1);
            if (length > 0) {
                path[length] = 0;
                // A file whose name was removed is " (deleted)" and still in its folder.
                if (name_of(path)) found = is.st_ino;
            }
        }
    }
    errno = saved;
    return found;
}

static int recorded_open(const char *path, int flags, mode_t mode) {
    pthread_mutex_lock(&lock);
    const char *name = flags & (O_CREAT | O_TRUNC) ? name_of(path) : NULL;
    struct stat is;
    int was_there = name && !lstat(path, &is);
    int file = plain_open(path, flags, mode);
    if (file >= 0 && name && (flags & O_TMPFILE) != O_TMPFILE && !fstat(file, &is)) {
        if (!was_there) record(CREATE, is.st_ino, 0, name, strlen(name), NULL);
        else if (flags & O_TRUNC) record(TRUNCATE, is.st_ino, 0, NULL, 0, NULL);
    }
    pthread_mutex_unlock(&lock);
    return file;
}

#define MODE(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return recorded_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return recorded_open(path, flags, mode);
}

static ssize_t recorded_write(int file, const void *bytes, size_t length, off_t position, int at_position) {
    int is_folder;
    pthread_mutex_lock(&lock);
    uint64_t inode = inode_of(file, &is_folder);
    if (inode && !at_position) {
        position = fcntl(file, F_GETFL) & O_APPEND ? lseek(file, 0, SEEK_END) : lseek(file, 0, SEEK_CUR);
    }
    ssize_t written = at_position ? NEXT(pwrite64)(file, bytes, length, position) : plain_write(file, bytes, length);
    if (inode && written > 0) record(WRITE, inode, position, bytes, written, NULL);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t write(int file, const void *bytes, size_t length) { return recorded_write(file, bytes, length, 0, 0); }

ssize_t pwrite(int file, const void *bytes, size_t length, off_t position) {
    return recorded_write(file, bytes, length, position, 1);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t position) {
    return recorded_write(file, bytes, length, position, 1);
}

// The first part alone: a caller goes on with what was not written.
ssize_t writev(int file, const struct iovec *parts, int count) {
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > 0) return recorded_write(file, parts[i].iov_base, parts[i].iov_len, 0, 0);
    }
    return 0;
}

// Callers copy by reading and writing instead.
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
    (void)in, (void)from, (void)out, (void)to, (void)length, (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile64(int out, int in, off64_t *from, size_t length) {
    (void)in, (void)from, (void)out, (void)length;
    errno = ENOSYS;
    return -1;
}

int ftruncate64(int file, off64_t length) {
    int is_folder;
    pthread_mutex_lock(&lock);
    uint64_t inode = inode_of(file, &is_folder);
    int failed = NEXT(ftruncate64)(file, length);
    if (inode && !failed) record(TRUNCATE, inode, length, NULL, 0, NULL);
    pthread_mutex_unlock(&lock);
    return failed;
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static int recorded_sync(int file, int (*next)(int)) {
    int is_folder;
    pthread_mutex_lock(&lock);
    uint64_t inode = inode_of(file, &is_folder);
    if (inode) record(is_folder ? SYNC_FOLDER : SYNC, inode, 0, NULL, 0, NULL);
    pthread_mutex_unlock(&lock);
    return inode ? 0 : next(file);
}

int fsync(int file) { return recorded_sync(file, NEXT(fsync)); }

int fdatasync(int file) { return recorded_sync(file, NEXT(fdatasync)); }

int rename(const char *from, const char *to) {
    char old[NAME_MAX + 1] = "";
    pthread_mutex_lock(&lock);
    const char *name = name_of(from);
    if (name) strncpy(old, name, NAME_MAX);
    struct stat is;
    int failed = NEXT(rename)(from, to);
    const char *new = failed ? NULL : name_of(to);
    if (new && *old && !stat(to, &is)) record(RENAME, is.st_ino, 0, old, strlen(old), new);
    pthread_mutex_unlock(&lock);
    return failed;
}

int unlink(const char *path) {
    pthread_mutex_lock(&lock);
    const char *name = name_of(path);
    int failed = NEXT(unlink)(path);
    if (name && !failed) record(UNLINK, 0, 0, name, strlen(name), NULL);
    pthread_mutex_unlock(&lock);
    return failed;
}
