package org.djlplan.delegation;

import com.google.common.base.Throwables;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.djlplan.memplan.thread.DaemonThreads;

/**
 * What a URL has, in a temporary file, which is deleted when this is closed. It is there in time,
 * and no larger than it may be, or there is none.
 */
final class Download implements AutoCloseable {

    private static final Set<Integer> REDIRECTIONS = Set.of(301, 302, 303, 307, 308);
    private static final int MOST_REDIRECTIONS = 3;
    private static final int BUFFER_BYTES = 1 << 16;

    private final Path file;

    /**
     * What a server may take.
     *
     * @param silence to connect, and between two parts of its answer
     * @param total for everything
     * @param mostBytes of the answer
     */
    record Limits(Duration silence, Duration total, long mostBytes) {

        /** Of archives that may have a model. */
        static final Limits USUAL =
                new Limits(Duration.ofSeconds(5), Duration.ofSeconds(30), 256 << 20);
    }

    private Download(Path file) {
        this.file = file;
    }

    /**
     * Fetches what is there, on a thread of its own: names of hosts are looked up without a limit.
     * Proxies and certificates are those of {@code java.net}, passwords those of {@link Passwords}.
     *
     * @throws IOException if the server has nothing, or does not keep to the limits
     */
    static Download of(URI uri, Limits limits) throws IOException {
        Fetch fetch = new Fetch(uri, limits);
        FutureTask<Path> fetching = new FutureTask<>(fetch::file);
        start(fetching);
        try {
            return new Download(
                    fetching.get(
                            limits.total().plus(limits.silence()).toNanos(), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            start(fetch::giveUp);
            throw late(limits);
        } catch (InterruptedException e) {
            start(fetch::giveUp);
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            Throwables.throwIfInstanceOf(e.getCause(), IOException.class);
            throw new IOException(e.getCause());
        }
    }

    private static void start(Runnable work) {
        DaemonThreads.make(work, "djl-plan-download").start();
    }

    private static IOException late(Limits limits) {
        return new IOException("not there in " + limits.total().toMillis() + " ms");
    }

    /** What the thread does. */
    private static final class Fetch {

        private final URI from;
        private final Passwords passwords;
        private final Limits limits;

        /** Guarded by this; null while there is none. */
        private HttpURLConnection connection;

        private boolean givenUp;

        Fetch(URI from, Limits limits) {
            this.from = from;
            passwords = new Passwords(from);
            this.limits = limits;
        }

        /** Returns what is there, in a file. */
        Path file() throws IOException {
            long end = System.nanoTime() + limits.total().toNanos();
            URI uri = from;
            for (int i = 0; i <= MOST_REDIRECTIONS; i++) {
                HttpURLConnection now = connect(uri);
                try {
                    int code = now.getResponseCode();
                    if (code == HttpURLConnection.HTTP_OK) {
                        return kept(write(now, limits, end));
                    }
                    if (!REDIRECTIONS.contains(code)) {
                        throw new IOException(Passwords.explained(code, uri));
                    }
                    uri = next(now, uri);
                } finally {
                    now.disconnect();
                }
            }
            throw new IOException("more than " + MOST_REDIRECTIONS + " redirections");
        }

        private synchronized HttpURLConnection connect(URI uri) throws IOException {
            if (givenUp) {
                throw late(limits);
            }
            connection = passwords.open(uri);
            connection.setConnectTimeout((int) limits.silence().toMillis());
            connection.setReadTimeout((int) limits.silence().toMillis());
            connection.setInstanceFollowRedirects(false);
            connection.setUseCaches(false);
            return connection;
        }

        /** Nobody may want it any more. */
        private synchronized Path kept(Path file) throws IOException {
            if (givenUp) {
                Files.delete(file);
                throw late(limits);
            }
            return file;
        }

        /**
         * Ends what would not end by itself, as a head of which a byte comes now and then. Who
         * waited for it need not wait for this.
         */
        void giveUp() {
            HttpURLConnection last;
            synchronized (this) {
                givenUp = true;
                last = connection;
            }
            if (last != null) {
                last.disconnect();
            }
        }
    }

    /** Nobody leads from an encrypted connection to one that is not, or to a file. */
    private static URI next(HttpURLConnection connection, URI from) throws IOException {
        String location = connection.getHeaderField("Location");
        URI to;
        try {
            to = from.resolve(location == null ? "" : location);
        } catch (IllegalArgumentException e) {
            throw new IOException("redirected to no URL", e);
        }
        String scheme = to.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("https")
                && !(scheme.equals("http") && scheme.equalsIgnoreCase(from.getScheme()))) {
            throw new IOException("redirected to " + scheme);
        }
        if (to.getHost() == null) {
            throw new IOException("redirected to no host");
        }
        return to;
    }

    private static Path write(HttpURLConnection connection, Limits limits, long end)
            throws IOException {
        Path file =
                Files.createTempFile("djlplan-" + ProcessHandle.current().pid() + "-", ".archive");
        boolean complete = false;
        try (InputStream in = connection.getInputStream();
                OutputStream out = Files.newOutputStream(file)) {
            long expected = connection.getContentLengthLong();
            if (expected > limits.mostBytes()) {
                throw new IOException(expected + " bytes, more than " + limits.mostBytes());
            }
            byte[] buffer = new byte[BUFFER_BYTES];
            long bytes = 0;
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                bytes += read;
                if (bytes > limits.mostBytes()) {
                    throw new IOException("more than " + limits.mostBytes() + " bytes");
                }
                if (System.nanoTime() - end > 0) {
                    throw late(limits);
                }
                out.write(buffer, 0, read);
            }
            if (bytes < expected) {
                throw new IOException(bytes + " of " + expected + " bytes");
            }
            complete = true;
            return file;
        } finally {
            if (!complete) {
                Files.delete(file);
            }
        }
    }

    /** Returns the file, which is there until this is closed. */
    Path file() {
        return file;
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(file);
    }
}
