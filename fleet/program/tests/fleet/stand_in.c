/* Stands in for wakepath on a board, to end in ways that a real run can't be told to. What it does stands in
 * $HOME/behaviour, a word and a number each: "sleep S", "bytes N" more in the run, "code N", "hang 1". What it leaves
 * is a real run that began now, copied from $HOME/fixture/JOB where there is one, else from $HOME/fixture/code-CODE; a
 * seal is made by the real program, where $HOME/wakepath is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int copied(const char *name, long code) {
    char from[512], to[512], piece[65536];
    size_t length;
    if (!getcwd(to, sizeof to)) return 0;
    snprintf(from, sizeof from, "%s/fixture/%s/%s", getenv("HOME"), strrchr(to, '/') + 1, name);
    if (access(from, R_OK)) snprintf(from, sizeof from, "%s/fixture/code-%ld/%s", getenv("HOME"), code == 1 ? 0 : code, name);
    snprintf(to, sizeof to, "run/%s", name);
    FILE *source = fopen(from, "r"), *target = fopen(to, "w");
    if (!source || !target) return 0;
    while ((length = fread(piece, 1, sizeof piece, source)) > 0)
        if (fwrite(piece, 1, length, target) != length) return 0;
    fclose(source);
    return fclose(target) == 0;
}

/* The manifest of a run that begins now, with its digest. */
static int begun_now(void) {
    static char text[1 << 20];
    char digest[65] = "";
    time_t now = time(NULL);
    FILE *manifest = fopen("run/manifest.json", "r+");
    size_t length = manifest ? fread(text, 1, sizeof text - 1, manifest) : 0;
    const char *end = ",\n  \"sha256\": \"";
    const char *key = "\"started\": \"";
    size_t seal = strlen(end) + 64 + strlen("\"\n}\n");
    char *started = strstr(text, key);
    if (length < seal || !started) return 0;
    char kept = started[strlen(key) + 20];
    strftime(started + strlen(key), 21, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    started[strlen(key) + 20] = kept;
    FILE *content = fopen("run/.content", "w");
    if (!content || fwrite(text, 1, length - seal, content) != length - seal || fclose(content)) return 0;
    FILE *summed = popen("sha256sum < run/.content", "r");
    if (!summed || fread(digest, 1, 64, summed) != 64) return 0;
    pclose(summed);
    unlink("run/.content");
    memcpy(text + length - seal + strlen(end), digest, 64);
    rewind(manifest);
    return fwrite(text, 1, length, manifest) == length && fclose(manifest) == 0;
}

int main(int count, char **words) {
    char path[512], word[32];
    long number, bytes = 0, code = 0, hangs = 0;
    if (count > 1 && !strcmp(words[1], "--version")) return puts("stand-in 1") < 0;
    if (count > 2 && !strcmp(words[1], "tune")) return printf("tuned: %s\n", words[2]), 3;
    if (count > 1 && !strcmp(words[1], "seal")) {
        snprintf(path, sizeof path, "%s/wakepath", getenv("HOME"));
        execv(path, words);
        return perror(path), 1;
    }
    snprintf(path, sizeof path, "%s/behaviour", getenv("HOME"));
    FILE *behaviour = fopen(path, "r");
    while (behaviour && fscanf(behaviour, "%31s %ld", word, &number) == 2) {
        if (!strcmp(word, "sleep")) sleep(number);
        if (!strcmp(word, "bytes")) bytes = number;
        if (!strcmp(word, "code")) code = number;
        if (!strcmp(word, "hang")) hangs = number;
    }
    if (hangs) for (;;) pause();
    mkdir("run", 0755);
    if (!copied("manifest.json", code) || !copied("samples.parquet", code) || !begun_now()) return puts("wakepath: no room"), 1;
    if (bytes) {
        FILE *more = fopen("run/more", "w");
        unsigned long seed = getpid();
        for (long at = 0; more && at < bytes; at += sizeof seed) {
            seed = seed * 6364136223846793005UL + 1442695040888963407UL;
            if (fwrite(&seed, sizeof seed, 1, more) != 1) return puts("wakepath: no space left on the disk"), 1;
        }
        if (!more || fclose(more)) return puts("wakepath: no space left on the disk"), 1;
    }
    puts(code ? "verdict: not passed" : "verdict: PASSED");
    return code;
}
