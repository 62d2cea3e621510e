package org.djlplan.integration.support;

import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.testing.Await;

/** Checks that closed models leave no resources behind. */
public final class Freed {

    private Freed() {}

    /**
     * Fails unless all models' memory is freed. It waits for a while, because an interpreter may
     * have been under construction in the background when its model was closed.
     */
    public static void assertEverything() {
        Await.until(() -> !used(), Freed::state);
    }

    /**
     * Checks the same for models left to the garbage collector. Because DJL's predictors have
     * finalizers, their objects need more than one collection.
     */
    public static void assertEverythingIsCollected() {
        Await.until(
                () -> {
                    System.gc();
                    return !used();
                },
                Freed::state);
    }

    private static String state() {
        return MappedFile.openCount()
                + " mapped files, "
                + ArenaPool.shared().metric().arenaBytes()
                + " bytes of arenas, "
                + WorkspacePool.shared().metric().bytes()
                + " bytes of workspaces";
    }

    private static boolean used() {
        return MappedFile.openCount() > 0
                || ArenaPool.shared().metric().arenaBytes() > 0
                || WorkspacePool.shared().metric().bytes() > 0;
    }
}
