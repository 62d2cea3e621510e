package org.djlplan.memplan.cli;

import ai.djl.util.Progress;
import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Tells once a second how much of its time a search has used, which may end at any moment. */
final class SearchNews implements AutoCloseable {

    private static final long PAUSE_MILLIS = 1000;

    private final Progress line;
    private final Duration most;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final long start = System.nanoTime();
    private final Thread teller = new Thread(this::tell, "djl-plan-search-news");

    private SearchNews(Progress line, Duration most) {
        this.line = line;
        this.most = most;
        teller.setDaemon(true);
    }

    /**
     * Begins to tell.
     *
     * @param line where; empty where nobody watches
     * @param most how long the search may take; empty if time does not limit it
     * @return what ends it; empty if nothing is told
     */
    static Optional<SearchNews> start(Optional<Progress> line, Optional<Duration> most) {
        if (line.isEmpty() || most.isEmpty()) {
            return Optional.empty();
        }
        SearchNews news = new SearchNews(line.get(), most.get());
        news.teller.start();
        return Optional.of(news);
    }

    private void tell() {
        try {
            while (!closed.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
                tell(line, Duration.ofNanos(System.nanoTime() - start), most);
            }
        } catch (InterruptedException e) {
            // Nobody interrupts it but the end of the JVM.
            Thread.currentThread().interrupt();
        }
    }

    /** Tells what part of its time a search has used. */
    static void tell(Progress line, Duration used, Duration most) {
        long left = Math.max(0, most.minus(used).toSeconds());
        line.reset(
                "Searching for a smaller plan, " + left + " s more at most",
                Math.max(1, most.toMillis()));
        line.start(Math.min(used.toMillis(), most.toMillis()));
    }

    /** Clears the line. */
    @Override
    public void close() {
        closed.countDown();
        Uninterruptibles.joinUninterruptibly(teller);
        line.end();
    }
}
