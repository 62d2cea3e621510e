package org.djlplan.memplan.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Sets;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeasuringJvmTest {

    @Test
    void classPath_ofThisJvm_beginsWithWhereClassesCameFrom() throws URISyntaxException {
        List<String> entries =
                Splitter.on(File.pathSeparatorChar).splitToList(MeasuringClassPath.current());
        assertEquals(place(MeasuringProcess.class), entries.get(0));
        assertEquals(place(ImmutableList.class), entries.get(1));
        for (String entry :
                Splitter.on(File.pathSeparatorChar)
                        .omitEmptyStrings()
                        .split(System.getProperty("java.class.path"))) {
            assertTrue(entries.contains(entry), entry);
        }
        assertEquals(entries.size(), Sets.newHashSet(entries).size());
    }

    private static String place(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    @Test
    void command_environment_isThisOneWithOneArenaAndWithoutFlagsOfAllJvms() {
        ProcessBuilder builder = MeasuringJvm.DEFAULT.command(Path.of("folder"));
        assertFalse(builder.environment().containsKey("JAVA_TOOL_OPTIONS"));
        assertEquals("1", builder.environment().get("MALLOC_ARENA_MAX"));
        assertFalse(builder.environment().containsKey("MALLOC_MMAP_THRESHOLD_"));
        assertEquals(System.getenv("PATH"), builder.environment().get("PATH"));
        assertTrue(builder.command().contains(MeasuringProcess.class.getName()));
    }

    @Test
    void timing_fastCandidate_isTheLeast() {
        assertEquals(Limits.DEFAULT.leastTiming(), Limits.DEFAULT.timing(100, 1000));
    }

    @Test
    void timing_slowCandidate_isAMultipleOfAllRuns() {
        // 20 times 11 inferences, with the untimed one, of a second.
        assertEquals(Duration.ofSeconds(220), Limits.DEFAULT.timing(10, 1_000_000_000));
    }

    @Test
    void timing_unbelievablySlow_doesNotOverflow() {
        assertEquals(
                Duration.ofNanos(Long.MAX_VALUE),
                Limits.DEFAULT.timing(Integer.MAX_VALUE, Long.MAX_VALUE));
    }
}
