package org.djlplan.cli;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * Reports once a second how much of its time a search has used; the search may end at any moment.
 */
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
     * Starts the reports.
     *
     * @param line receives the progress; empty if the progress is not shown
     * @param most time limit of the search; empty if there is none
     * @return an object that ends the reports when closed; empty if nothing is reported
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
            // Only the end of the JVM interrupts this thread.
            Thread.currentThread().interrupt();
        }
    }

    /** Reports the fraction of its time that a search has used. */
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
