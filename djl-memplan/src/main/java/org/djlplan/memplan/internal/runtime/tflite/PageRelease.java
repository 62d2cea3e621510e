package org.djlplan.memplan.internal.runtime.tflite;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * Repeatedly releases pages of models while a delegate packs weights from them, because the pages
 * and the packed weights together would take twice the memory.
 */
final class PageRelease {

    /** A few megabytes are packed during this pause. */
    private static final Duration PAUSE = Duration.ofMillis(2);

    private final List<OpenModel> models;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean done;

    private PageRelease(List<OpenModel> models) {
        this.models = models;
    }

    /** Begins to release pages. The models must not be closed before the result is. */
    static PageRelease of(List<OpenModel> models) {
        PageRelease release = new PageRelease(models);
        if (!Later.start(release::release)) {
            release.ended.countDown();
        }
        return release;
    }

    private void release() {
        while (!done) {
            models.forEach(OpenModel::releasePages);
            Uninterruptibles.sleepUninterruptibly(PAUSE);
        }
        ended.countDown();
    }

    /** Ends after releasing all pages. */
    void close() {
        done = true;
        Uninterruptibles.awaitUninterruptibly(ended);
        models.forEach(OpenModel::releasePages);
    }
}
