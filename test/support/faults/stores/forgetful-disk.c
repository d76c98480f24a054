/*
 * A library for LD_PRELOAD. It records what a disk would have after a loss of power: the content of the files and folders
 * below FORGETFUL_ROOT at their last sync. A file's bytes are written to FORGETFUL_NOTES/f-<key>, and a folder's names to
 * d-<key>, as lines "f|d|l <key> <name>". The target of a symbolic link is written to l-<key> when its name is recorded.
 * The key is the inode's number and birth time, because numbers are reused. Nothing is recorded of what was never synced:
 * this is the strictest disk that POSIX allows.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int key_of(int at, const char *name, int flags, char *key, size_t size, unsigned *mode) {
  struct statx found;
  if (statx(at, name, flags | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return -1;
  *mode = found.stx_mode;
  snprintf(key, size, "%llu-%lld-%u", (unsigned long long)found.stx_ino, (long long)found.stx_btime.tv_sec,
           found.stx_btime.tv_nsec);
  return 0;
}

static void copy_file(int fd, FILE *out) {
  char path[64], bytes[65536];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  /* Opens the file again, because the caller's descriptor may be write-only. */
  int in = open(path, O_RDONLY | O_CLOEXEC);
  if (in < 0) return;
  ssize_t count;
  while ((count = read(in, bytes, sizeof bytes)) > 0) fwrite(bytes, 1, (size_t)count, out);
  close(in);
}

static void keep_target(int at, const char *name, const char *notes, const char *key) {
  char target[4096], kept[4300];
  ssize_t length = readlinkat(at, name, target, sizeof target);
  if (length <= 0) return;
  snprintf(kept, sizeof kept, "%s/l-%s", notes, key);
  FILE *out = fopen(kept, "we");
  if (out == NULL) return;
  fwrite(target, 1, (size_t)length, out);
  fclose(out);
}

static void list_folder(int fd, const char *notes, FILE *out) {
  char path[64], key[96];
  unsigned mode;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  DIR *folder = opendir(path);
  if (folder == NULL) return;
  struct dirent *entry;
  while ((entry = readdir(folder)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (key_of(dirfd(folder), entry->d_name, 0, key, sizeof key, &mode) != 0) continue;
    if (S_ISLNK(mode)) keep_target(dirfd(folder), entry->d_name, notes, key);
    fprintf(out, "%c %s %s\n", S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : 'f', key, entry->d_name);
  }
  closedir(folder);
}

static void note(int fd) {
  const char *root = getenv("FORGETFUL_ROOT"), *notes = getenv("FORGETFUL_NOTES");
  char link[64], path[4096], key[96], draft[4300], kept[4300];
  unsigned mode;
  if (root == NULL || notes == NULL) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (strncmp(path, root, strlen(root)) != 0 || key_of(fd, "", AT_EMPTY_PATH, key, sizeof key, &mode) != 0) return;
  pthread_mutex_lock(&one_at_a_time);
  snprintf(draft, sizeof draft, "%s/draft-%d", notes, getpid());
  snprintf(kept, sizeof kept, "%s/%c-%s", notes, S_ISDIR(mode) ? 'd' : 'f', key);
  FILE *out = fopen(draft, "we");
  if (out != NULL) {
    if (S_ISDIR(mode)) list_folder(fd, notes, out);
    else copy_file(fd, out);
    fclose(out);
    rename(draft, kept);
  }
  pthread_mutex_unlock(&one_at_a_time);
}

static int synced(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = real(fd);
  if (result == 0) note(fd);
  return result;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
