package org.djlplan.memplan.planning;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.runtime.BackgroundSearch;

/** The thread that searches in the background. */
final class SearchThread {

    private SearchThread() {}

    private static Optional<Thread> find() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(BackgroundSearch.THREAD))
                .findFirst();
    }

    /** It ends soon after its last search. */
    static void awaitEnd() throws InterruptedException {
        Optional<Thread> thread = find();
        if (thread.isPresent()) {
            thread.get().join(TimeUnit.SECONDS.toMillis(30));
        }
        assertEquals(Optional.empty(), find());
    }
}
