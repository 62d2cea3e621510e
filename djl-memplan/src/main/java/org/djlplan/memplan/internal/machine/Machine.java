package org.djlplan.memplan.internal.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The memory and processors that this process may use: the machine's, a container's (Linux control
 * groups, version 1 and 2, each group up to the root) and the process's own limits. Every method
 * except {@link #cores()} reads several files on each call, so that changed limits take effect.
 * That is too slow to do for each prediction.
 *
 * <p>A limit that cannot be read counts as none.
 */
public final class Machine {

    /** Values from this one on mean no limit; version 1 has 2⁶³ rounded down to a page. */
    private static final long NO_LIMIT = 1L << 60;

    private static final Duration CORES_KEPT = Duration.ofSeconds(1);

    private static volatile Cores lastCores =
            new Cores(Runtime.getRuntime().availableProcessors(), System.nanoTime());

    private final Path root;

    /** This machine. */
    public Machine() {
        this(Path.of("/"));
    }

    /**
     * Creates a machine described by files under another root, for tests.
     *
     * @param root folder that contains {@code proc} and the mounted control groups
     */
    public Machine(Path root) {
        this.root = root;
    }

    /**
     * Returns the number of processors that the process may use: a container's quota, rounded up.
     */
    public static int cores() {
        long now = System.nanoTime();
        Cores known = lastCores;
        if (now - known.nanos > CORES_KEPT.toNanos()) {
            known = new Cores(Runtime.getRuntime().availableProcessors(), now);
            lastCores = known;
        }
        return known.count;
    }

    /**
     * The number of processors, and the time at which it was read. The number is cached, because
     * predictions ask for it, and in a container the JVM reads two files each time.
     */
    private record Cores(int count, long nanos) {}

    /**
     * Returns the number of processors that the process can keep busy permanently: a container's
     * quota, rounded down, but at least one.
     */
    public int fullCores() {
        double quota = quotaCores().orElse(Integer.MAX_VALUE);
        return (int) Math.max(1, Math.min(cores(), Math.floor(quota)));
    }

    /** Returns the limit of the tightest control group, in bytes; empty if there is none. */
    public OptionalLong containerLimitBytes() {
        return groups().stream()
                .mapToLong(Group::limitBytes)
                .filter(bytes -> bytes < NO_LIMIT)
                .min();
    }

    /**
     * Returns the memory that this process may use: the machine's, or that of the tightest control
     * groups. File pages that no process has mapped count as free.
     */
    public MemoryRoom memoryRoom() {
        long limit = meminfo("MemTotal:").orElse(NO_LIMIT);
        long free = meminfo("MemAvailable:").orElse(limit);
        for (Group group : groups()) {
            limit = Math.min(limit, group.limitBytes());
            free = Math.min(free, group.limitBytes() - group.usedBytes());
        }
        Runtime runtime = Runtime.getRuntime();
        return new MemoryRoom(
                Math.max(1, limit),
                Math.max(0, limit - free),
                Math.max(0, runtime.maxMemory() - runtime.totalMemory()));
    }

    /**
     * Returns a counter that grows whenever the system kills a process of this process's control
     * groups, or any process of this machine, because memory ran out; empty if the system does not
     * count this.
     */
    public OptionalLong memoryKills() {
        LongSummaryStatistics kills =
                Stream.concat(
                                folders("memory").stream().map(Machine::killsFile),
                                Stream.of(root.resolve("proc/vmstat")))
                        .flatMapToLong(file -> number(file, "oom_kill ").stream())
                        .summaryStatistics();
        return kills.getCount() == 0 ? OptionalLong.empty() : OptionalLong.of(kills.getSum());
    }

    private static Path killsFile(Folder group) {
        return group.path().resolve(group.unified() ? "memory.events" : "memory.oom_control");
    }

    /**
     * Returns how many bytes of address space the process may still map ({@code RLIMIT_AS}); empty
     * if there is no limit.
     */
    public OptionalLong addressSpaceHeadroomBytes() {
        OptionalLong limit = number(root.resolve("proc/self/limits"), "Max address space ");
        OptionalLong used = kibibytes(root.resolve("proc/self/status"), "VmSize:");
        return limit.isPresent() && used.isPresent()
                ? OptionalLong.of(Math.max(0, limit.getAsLong() - used.getAsLong()))
                : OptionalLong.empty();
    }

    /**
     * A memory control group.
     *
     * @param limitBytes its limit
     * @param usedBytes used memory except file pages that no process has mapped
     */
    private record Group(long limitBytes, long usedBytes) {}

    private List<Group> groups() {
        List<Group> groups = new ArrayList<>();
        folders("memory").forEach(folder -> add(folder.path(), folder.unified(), groups));
        return groups;
    }

    /**
     * Returns the number of processors whose time the tightest control group allows; empty if there
     * is no quota.
     */
    public OptionalDouble quotaCores() {
        OptionalDouble least = OptionalDouble.empty();
        for (Folder group : folders("cpu")) {
            OptionalDouble quota = quota(group);
            if (quota.isPresent()
                    && (least.isEmpty() || quota.getAsDouble() < least.getAsDouble())) {
                least = quota;
            }
        }
        return least;
    }

    /**
     * Returns how long control groups with a quota of processor time have been throttled so far;
     * the sum of all groups. 0 if there is no quota.
     */
    public long throttledNanos() {
        return folders("cpu").stream().mapToLong(Machine::throttled).sum();
    }

    private static OptionalDouble quota(Folder group) {
        // In one file of version 2: such as "150000 100000", or "max 100000" for no limit.
        List<String> values =
                group.unified()
                        ? words(text(group.path().resolve("cpu.max")))
                        : List.of(
                                text(group.path().resolve("cpu.cfs_quota_us")).strip(),
                                text(group.path().resolve("cpu.cfs_period_us")).strip());
        long quota = values.size() == 2 ? number(values.get(0)).orElse(0) : 0;
        long period = values.size() == 2 ? number(values.get(1)).orElse(0) : 0;
        return quota > 0 && period > 0
                ? OptionalDouble.of((double) quota / period)
                : OptionalDouble.empty();
    }

    private static long throttled(Folder group) {
        Path file = group.path().resolve("cpu.stat");
        return group.unified()
                ? TimeUnit.MICROSECONDS.toNanos(number(file, "throttled_usec ").orElse(0))
                : number(file, "throttled_time ").orElse(0);
    }

    /**
     * A control group.
     *
     * @param unified whether it belongs to version 2
     */
    private record Folder(Path path, boolean unified) {}

    /** Returns the groups of this process that a controller limits, each up to the root. */
    private List<Folder> folders(String controller) {
        List<Folder> folders = new ArrayList<>();
        for (String line : text(root.resolve("proc/self/cgroup")).lines().toList()) {
            // Such as 4:memory:/a/b, or in version 2 0::/a/b
            String[] parts = line.split(":", 3);
            if (parts.length == 3) {
                boolean unified = parts[1].isEmpty();
                if (unified || List.of(parts[1].split(",", -1)).contains(controller)) {
                    addFolders(controller, unified, parts[2], folders);
                }
            }
        }
        return folders;
    }

    /** Adds the group of a path and all its ancestors that are mounted here. */
    private void addFolders(String controller, boolean unified, String path, List<Folder> folders) {
        for (String line : text(root.resolve("proc/self/mountinfo")).lines().toList()) {
            // 35 31 0:32 ROOT MOUNT_POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS
            if (!line.contains(" - cgroup")) {
                continue;
            }
            List<String> fields = words(line);
            int dash = fields.indexOf("-");
            if (dash < 5 || fields.size() < dash + 4) {
                continue;
            }
            String type = fields.get(dash + 1);
            boolean fits =
                    unified
                            ? type.equals("cgroup2")
                            : type.equals("cgroup")
                                    && List.of(fields.get(dash + 3).split(",", -1))
                                            .contains(controller);
            Optional<Path> top = resolve(root, fields.get(4));
            if (fits && top.isPresent()) {
                Path group = inside(top.get(), fields.get(3), path);
                for (; group != null && group.startsWith(top.get()); group = group.getParent()) {
                    folders.add(new Folder(group, unified));
                }
                return;
            }
        }
    }

    /** A container often sees its own group at the mount point, whatever its path is. */
    private static Path inside(Path top, String mountedRoot, String path) {
        String below = path.startsWith(mountedRoot) ? path.substring(mountedRoot.length()) : path;
        return resolve(top, below)
                .filter(group -> group.startsWith(top) && Files.isDirectory(group))
                .orElse(top);
    }

    /** Returns a path below a folder; empty if the locale cannot express its name. */
    private static Optional<Path> resolve(Path folder, String below) {
        try {
            return Optional.of(folder.resolve(below.replaceFirst("^/+", "")).normalize());
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    private static void add(Path group, boolean unified, List<Group> groups) {
        OptionalLong limit =
                number(text(group.resolve(unified ? "memory.max" : "memory.limit_in_bytes")));
        OptionalLong used =
                number(text(group.resolve(unified ? "memory.current" : "memory.usage_in_bytes")));
        if (limit.isPresent() && used.isPresent()) {
            Path statistics = group.resolve("memory.stat");
            String below = unified ? "" : "total_";
            long files =
                    number(statistics, below + "inactive_file ").orElse(0)
                            + number(statistics, below + "active_file ").orElse(0);
            long mapped =
                    number(statistics, unified ? "file_mapped " : "total_mapped_file ").orElse(0);
            groups.add(
                    new Group(
                            limit.getAsLong(),
                            Math.max(0, used.getAsLong() - Math.max(0, files - mapped))));
        }
    }

    private OptionalLong meminfo(String key) {
        return kibibytes(root.resolve("proc/meminfo"), key);
    }

    private static OptionalLong kibibytes(Path file, String key) {
        OptionalLong kibibytes = number(file, key);
        return kibibytes.isPresent()
                ? OptionalLong.of(Math.min(kibibytes.getAsLong(), NO_LIMIT >> 10) << 10)
                : OptionalLong.empty();
    }

    /** Returns the number after a key at the beginning of a line. */
    private static OptionalLong number(Path file, String key) {
        return text(file)
                .lines()
                .filter(line -> line.startsWith(key))
                .map(line -> number(line.substring(key.length()).strip().split("\\s", 2)[0]))
                .findFirst()
                .orElse(OptionalLong.empty());
    }

    /**
     * Returns a number of at least 0 and at most {@link #NO_LIMIT}; empty if the text is none, such
     * as {@code max} and {@code unlimited}, or -1, which version 1 writes for no limit.
     */
    private static OptionalLong number(String text) {
        try {
            long number = Long.parseLong(text.strip());
            return number < 0 ? OptionalLong.empty() : OptionalLong.of(Math.min(number, NO_LIMIT));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    private static List<String> words(String text) {
        String stripped = text.strip();
        return stripped.isEmpty() ? List.of() : List.of(stripped.split("\\s+"));
    }

    /** Returns the content of a file; nothing if it cannot be read. */
    private static String text(Path file) {
        try {
            return SystemFile.text(file);
        } catch (IOException e) {
            return "";
        }
    }
}
