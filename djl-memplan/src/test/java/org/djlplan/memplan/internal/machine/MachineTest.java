package org.djlplan.memplan.internal.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Reads simulated machines: control groups of version 1 and 2, nested groups, and the view from
 * inside a container.
 */
class MachineTest {

    private static final long MIB = 1L << 20;

    /** Nothing of these is a number that a limit can have. */
    static List<String> damaged() {
        return List.of("", "\n", " ", "text", "\u00e9\u0000", "9".repeat(40), "-4096", "1.5");
    }

    private static final String CGROUP2 =
            "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n";

    @TempDir private Path root;

    @BeforeEach
    void makeMachine() throws IOException {
        write("proc/meminfo", "MemTotal:  4096 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n");
    }

    @Test
    void machineWithoutGroups() {
        Machine machine = new Machine(root);
        assertEquals(4 * MIB, machine.memoryRoom().limitBytes());
        assertEquals(2 * MIB, machine.memoryRoom().freeBytes());
        assertEquals(OptionalLong.empty(), machine.containerLimitBytes());
    }

    @Test
    void memoryKills_countsThoseOfTheGroupAndOfTheMachine() throws IOException {
        assertEquals(OptionalLong.empty(), new Machine(root).memoryKills());
        write("proc/vmstat", "pgfault 12\noom_kill 3\n");
        assertEquals(OptionalLong.of(3), new Machine(root).memoryKills());
        write("proc/self/cgroup", "0::/pod\n");
        write("proc/self/mountinfo", CGROUP2);
        write("sys/fs/cgroup/pod/memory.events", "low 0\noom 9\noom_kill 2\n");
        assertEquals(OptionalLong.of(5), new Machine(root).memoryKills());
    }

    @Test
    void version2_tightestGroupCounts() throws IOException {
        write("proc/self/cgroup", "0::/pod/app\n");
        write("proc/self/mountinfo", CGROUP2);
        group2("sys/fs/cgroup/pod", Long.toString(3 * MIB), 2 * MIB, MIB / 2);
        group2("sys/fs/cgroup/pod/app", "max", MIB, 0);
        Machine machine = new Machine(root);
        assertEquals(3 * MIB, machine.memoryRoom().limitBytes());
        assertEquals(OptionalLong.of(3 * MIB), machine.containerLimitBytes());
        assertEquals(MIB + MIB / 2, machine.memoryRoom().freeBytes());
    }

    /** Linux writes the bytes of names as they are. */
    @Test
    void version2_mountPointIsNoText_limitCounts() throws IOException {
        write("proc/self/cgroup", "0::/pod\n");
        Files.writeString(
                root.resolve("proc/self/mountinfo"),
                "40 31 0:37 / /mnt/caf\u00e9 rw - ext4 /dev/sda rw\n"
                        + "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                StandardCharsets.ISO_8859_1);
        group2("sys/fs/cgroup", Long.toString(3 * MIB), 2 * MIB, MIB / 2);
        assertEquals(OptionalLong.of(3 * MIB), new Machine(root).containerLimitBytes());
    }

    @Test
    void version2_groupIsNoPath_groupAtTheMountPointCounts() throws IOException {
        write("proc/self/cgroup", "0::/pod\0\n");
        write("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        group2("sys/fs/cgroup", Long.toString(3 * MIB), 2 * MIB, MIB / 2);
        assertEquals(OptionalLong.of(3 * MIB), new Machine(root).containerLimitBytes());
    }

    @Test
    void version1_containerSeesItsGroupAtTheMountPoint() throws IOException {
        write("proc/self/cgroup", "5:cpu:/docker/1\n4:hugetlb,memory:/docker/1\n0::/\n");
        write(
                "proc/self/mountinfo",
                "34 31 0:31 /docker/1 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                        + "35 31 0:32 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup"
                        + " rw,hugetlb,memory\n");
        group1("sys/fs/cgroup/memory", 2 * MIB, MIB);
        assertEquals(2 * MIB, new Machine(root).memoryRoom().limitBytes());
        assertEquals(MIB, new Machine(root).memoryRoom().freeBytes());
    }

    @Test
    void version2_quotaOfProcessorTime() throws IOException {
        write("proc/self/cgroup", "0::/pod/app\n");
        write("proc/self/mountinfo", CGROUP2);
        write("sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
        write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 9\nnr_throttled 2\nthrottled_usec 7\n");
        write("sys/fs/cgroup/pod/app/cpu.max", "max 100000\n");
        Machine machine = new Machine(root);
        assertEquals(OptionalDouble.of(1.5), machine.quotaCores());
        assertEquals(1, machine.fullCores());
        assertEquals(7000, machine.throttledNanos());
    }

    @Test
    void version1_quotaOfProcessorTime() throws IOException {
        write("proc/self/cgroup", "5:cpu,cpuacct:/app\n4:memory:/\n");
        write(
                "proc/self/mountinfo",
                "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        write("sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "50000\n");
        write("sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
        write("sys/fs/cgroup/cpu/app/cpu.stat", "nr_throttled 2\nthrottled_time 7\n");
        Machine machine = new Machine(root);
        assertEquals(OptionalDouble.of(0.5), machine.quotaCores());
        assertEquals(7, machine.throttledNanos());
    }

    @Test
    void quota_noGroups_isNone() {
        assertEquals(OptionalDouble.empty(), new Machine(root).quotaCores());
        assertEquals(0, new Machine(root).throttledNanos());
    }

    @Test
    void version1_noLimit() throws IOException {
        write("proc/self/cgroup", "4:memory:/\n");
        write(
                "proc/self/mountinfo",
                "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
        group1("sys/fs/cgroup/memory", 9223372036854771712L, MIB);
        assertEquals(4 * MIB, new Machine(root).memoryRoom().limitBytes());
        assertEquals(OptionalLong.empty(), new Machine(root).containerLimitBytes());
    }

    @Test
    void memoryRoom_version2_countsUnmappedFilePagesAsFree() throws IOException {
        write("proc/self/cgroup", "0::/app\n");
        write("proc/self/mountinfo", CGROUP2);
        group2("sys/fs/cgroup/app", "2000000", 1_500_000, 600_000);
        write(
                "sys/fs/cgroup/app/memory.stat",
                "anon 5\nfile_mapped 300000\ninactive_file 600000\nactive_file 200000\n");
        MemoryRoom room = new Machine(root).memoryRoom();
        assertEquals(2_000_000, room.limitBytes());
        assertEquals(1_000_000, room.usedBytes());
        assertEquals(1_000_000, room.freeBytes());
    }

    @Test
    void memoryRoom_version1_countsGroupsBelow() throws IOException {
        write("proc/self/cgroup", "4:memory:/app\n");
        write(
                "proc/self/mountinfo",
                "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
        group1("sys/fs/cgroup/memory", 9223372036854771712L, 5 * MIB);
        group1("sys/fs/cgroup/memory/app", 2_000_000, 1_500_000);
        write(
                "sys/fs/cgroup/memory/app/memory.stat",
                "inactive_file 7\ntotal_inactive_file 100000\ntotal_active_file 200000\n"
                        + "total_mapped_file 900000\n");
        assertEquals(1_500_000, new Machine(root).memoryRoom().usedBytes());
    }

    @Test
    void addressSpace() throws IOException {
        assertEquals(OptionalLong.empty(), new Machine(root).addressSpaceHeadroomBytes());
        write("proc/self/status", "VmPeak: 9 kB\nVmSize:\t    1024 kB\n");
        write(
                "proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units\n"
                        + "Max address space         3145728              unlimited           "
                        + " bytes\n");
        assertEquals(OptionalLong.of(2 * MIB), new Machine(root).addressSpaceHeadroomBytes());
        write("proc/self/limits", "Max address space         unlimited unlimited bytes\n");
        assertEquals(OptionalLong.empty(), new Machine(root).addressSpaceHeadroomBytes());
    }

    @ParameterizedTest
    @MethodSource("damaged")
    void version2_damagedFiles_countAsNoLimit(String damaged) throws IOException {
        write("proc/self/cgroup", "0::/pod\n");
        write("proc/self/mountinfo", CGROUP2);
        write("sys/fs/cgroup/pod/memory.max", damaged);
        write("sys/fs/cgroup/pod/memory.current", "4096\n");
        write("sys/fs/cgroup/pod/cpu.max", damaged);
        assertNoGroup();
        write("sys/fs/cgroup/pod/memory.max", "4096\n");
        write("sys/fs/cgroup/pod/memory.current", damaged);
        write("sys/fs/cgroup/pod/cpu.max", damaged + " 100000\n");
        assertNoGroup();
        write("sys/fs/cgroup/pod/memory.max", damaged);
        write("sys/fs/cgroup/pod/cpu.max", "100000 " + damaged + "\n");
        assertNoGroup();
    }

    @ParameterizedTest
    @MethodSource("damaged")
    void version1_damagedFiles_countAsNoLimit(String damaged) throws IOException {
        write("proc/self/cgroup", "4:cpu,memory:/\n");
        write(
                "proc/self/mountinfo",
                "35 31 0:32 / /sys/fs/cgroup/all rw - cgroup cgroup rw,cpu,memory\n");
        write("sys/fs/cgroup/all/memory.limit_in_bytes", damaged);
        write("sys/fs/cgroup/all/memory.usage_in_bytes", "4096\n");
        write("sys/fs/cgroup/all/cpu.cfs_quota_us", "50000\n");
        write("sys/fs/cgroup/all/cpu.cfs_period_us", damaged);
        assertNoGroup();
        write("sys/fs/cgroup/all/memory.limit_in_bytes", "4096\n");
        write("sys/fs/cgroup/all/memory.usage_in_bytes", damaged);
        write("sys/fs/cgroup/all/cpu.cfs_quota_us", damaged);
        write("sys/fs/cgroup/all/cpu.cfs_period_us", "100000\n");
        assertNoGroup();
    }

    private void assertNoGroup() {
        Machine machine = new Machine(root);
        assertEquals(OptionalLong.empty(), machine.containerLimitBytes());
        assertEquals(4 * MIB, machine.memoryRoom().limitBytes());
        assertEquals(2 * MIB, machine.memoryRoom().freeBytes());
        assertEquals(OptionalDouble.empty(), machine.quotaCores());
        assertEquals(Machine.cores(), machine.fullCores());
    }

    @Test
    void version2_quotaOrPeriodOfZero_isNone() throws IOException {
        write("proc/self/cgroup", "0::/pod\n");
        write("proc/self/mountinfo", CGROUP2);
        for (String quota : List.of("0 0", "0 100000", "100000 0")) {
            write("sys/fs/cgroup/pod/cpu.max", quota);
            assertEquals(OptionalDouble.empty(), new Machine(root).quotaCores());
        }
    }

    @ParameterizedTest
    @MethodSource("damaged")
    void statistics_damaged_countNothing(String damaged) throws IOException {
        write("proc/self/cgroup", "0::/pod\n");
        write("proc/self/mountinfo", CGROUP2);
        group2("sys/fs/cgroup/pod", "3145728", 2 * MIB, 0);
        write(
                "sys/fs/cgroup/pod/memory.stat",
                "inactive_file %1$s\nactive_file %1$s\nfile_mapped %1$s\n".formatted(damaged));
        write("sys/fs/cgroup/pod/cpu.stat", "throttled_usec " + damaged);
        write("sys/fs/cgroup/pod/memory.events", "oom_kill " + damaged);
        write("proc/vmstat", "oom_kill " + damaged);
        Machine machine = new Machine(root);
        assertEquals(MIB, machine.memoryRoom().freeBytes());
        assertEquals(0, machine.throttledNanos());
        assertEquals(OptionalLong.empty(), machine.memoryKills());
    }

    @ParameterizedTest
    @MethodSource("damaged")
    void meminfo_damaged_isUnknown(String damaged) throws IOException {
        write("proc/meminfo", damaged);
        assertUnknown();
        write("proc/meminfo", "MemTotal:" + damaged + "\nMemAvailable: " + damaged + " kB\n");
        assertUnknown();
    }

    @Test
    void hugeNumbers_areNoLimit() throws IOException {
        write(
                "proc/meminfo",
                "MemTotal: %1$d kB\nMemAvailable: %1$d kB\n".formatted(Long.MAX_VALUE));
        assertUnknown();
        write("proc/self/cgroup", "0::/pod\n");
        write("proc/self/mountinfo", CGROUP2);
        group2("sys/fs/cgroup/pod", "3145728", 2 * MIB, Long.MAX_VALUE);
        assertEquals(3 * MIB, new Machine(root).memoryRoom().freeBytes());
    }

    private void assertUnknown() {
        Machine machine = new Machine(root);
        assertTrue(machine.memoryRoom().limitBytes() > 1L << 50);
        assertTrue(machine.memoryRoom().freeBytes() > 1L << 50);
    }

    @ParameterizedTest
    @MethodSource("damaged")
    void groupsOrMounts_damaged_areNone(String damaged) throws IOException {
        write("proc/self/cgroup", damaged);
        write("proc/self/mountinfo", CGROUP2);
        assertNoGroup();
        write("proc/self/cgroup", "0::/pod\n");
        write("proc/self/mountinfo", damaged + " - cgroup2");
        assertNoGroup();
        write("proc/self/mountinfo", "41 31 0:38 / /a\0b rw - cgroup2 cgroup2 rw\n");
        assertNoGroup();
    }

    @ParameterizedTest
    @MethodSource("damaged")
    void addressSpace_damaged_isNoLimit(String damaged) throws IOException {
        String limits = "Max address space  ";
        write("proc/self/status", "VmSize:\t    1024 kB\n");
        write("proc/self/limits", damaged);
        assertEquals(OptionalLong.empty(), new Machine(root).addressSpaceHeadroomBytes());
        write("proc/self/limits", limits + damaged);
        assertEquals(OptionalLong.empty(), new Machine(root).addressSpaceHeadroomBytes());
        write("proc/self/limits", limits + "3145728");
        write("proc/self/status", "VmSize:" + damaged + "\n");
        assertEquals(OptionalLong.empty(), new Machine(root).addressSpaceHeadroomBytes());
    }

    @Test
    void thisMachine() {
        Machine machine = new Machine();
        assertTrue(machine.memoryRoom().limitBytes() > 64 * MIB);
        assertTrue(machine.memoryRoom().freeBytes() <= machine.memoryRoom().limitBytes());
    }

    private void group2(String folder, String limit, long used, long inactive) throws IOException {
        write(folder + "/memory.max", limit + "\n");
        write(folder + "/memory.current", used + "\n");
        write(folder + "/memory.stat", "anon 5\ninactive_file " + inactive + "\n");
    }

    private void group1(String folder, long limit, long used) throws IOException {
        write(folder + "/memory.limit_in_bytes", limit + "\n");
        write(folder + "/memory.usage_in_bytes", used + "\n");
        write(folder + "/memory.stat", "inactive_file 7\ntotal_inactive_file 0\n");
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
