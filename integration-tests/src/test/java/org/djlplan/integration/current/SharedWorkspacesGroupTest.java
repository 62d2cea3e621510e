package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.testing.MemoryGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests delegated models, served in turn, in a container that has no room for a separate workspace
 * for each model. A model that is being loaded has a workspace of its own, so the models with the
 * largest workspaces are loaded first.
 */
@Tag("djl-current")
@Tag("long")
@NeedsModels(RealModels.TFLITE)
class SharedWorkspacesGroupTest {

    private static final long MIB = 1 << 20;
    private static final int KILLED = 137;

    @TempDir Path folder;

    @Test
    void serve_roomForTheLargestWorkspace_livesWhereOneOfEachIsKilled() throws Exception {
        try (MemoryGroup group = MemoryGroup.of(1024 * MIB)) {
            long ofEach = peakBytes(group, false);
            long shared = peakBytes(group, true);
            assertTrue(shared < ofEach - 24 * MIB, shared + " of " + ofEach);
            group.limit(shared + 8 * MIB);
            assertEquals(0, run(group, true).exitCode());
            assertEquals(KILLED, run(group, false).exitCode());
        }
    }

    private long peakBytes(MemoryGroup group, boolean shared) throws Exception {
        // Files that the first process reads are charged to the group; later processes find them in
        // the page cache.
        assertEquals(0, run(group, shared).exitCode());
        group.resetPeak();
        ChildJvm.Result result = run(group, shared);
        assertEquals(0, result.exitCode(), result::printed);
        return group.peakBytes();
    }

    private ChildJvm.Result run(MemoryGroup group, boolean shared) throws Exception {
        List<String> arguments = new ArrayList<>();
        arguments.add(Delegates.XNNPACK_TRANSIENT);
        arguments.add(Boolean.toString(shared));
        arguments.add(TestModels.built("blaze_face").toString());
        Stream.of("FaceAntiSpoofing", "palm_detection_full", "hand_landmark_full", "MobileFaceNet")
                .forEach(name -> arguments.add(RealModels.TFLITE.file(name).toString()));
        return new ChildJvm(folder)
                .before(group.inside())
                .options("-Xms96m", "-Xmx96m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
                .options("-Ddjlplan.internal.sharedWorkspaces=" + shared)
                .run(WorkspaceMemoryProgram.class, arguments.toArray(String[]::new));
    }
}
