package org.djlplan.memplan.internal.planning;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.store.Fingerprint;
import org.djlplan.memplan.internal.store.Fingerprints;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model's file with the content that it had when the model was loaded. If a deployment replaces
 * the file, the new one has another model's weights, which must not serve. So the loaded file stays
 * mapped, which keeps its content readable. Thread-safe.
 */
final class LoadedFile implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(LoadedFile.class);

    private final Path file;
    private final Fingerprints fingerprints;

    /** The mapping of the loaded file; empty if it could not be mapped. */
    private final Optional<MappedFile> held;

    /** The last identity with which the file is known to have the content. */
    private FileIdentity identity;

    /** Computed when it is first needed, because the file is read for it. */
    private Optional<Fingerprint> fingerprint = Optional.empty();

    /**
     * @throws IOException if there is no such file
     */
    LoadedFile(Path file, Fingerprints fingerprints) throws IOException {
        this.file = file;
        this.fingerprints = fingerprints;
        identity = FileIdentity.of(file);
        held = mapped(file);
        try {
            requireSame();
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private static Optional<MappedFile> mapped(Path file) {
        try {
            return Optional.of(MappedFile.open(file));
        } catch (IOException | UnsupportedPlatformException e) {
            logger.debug("{} must not be replaced", file, e);
            return Optional.empty();
        }
    }

    /** Returns the file's size. */
    synchronized long bytes() {
        return identity.bytes();
    }

    /**
     * Returns a mapping of the loaded file, even if it was replaced.
     *
     * @throws IOException if it cannot be read, or was changed in place
     */
    MappedFile map() throws IOException, UnsupportedPlatformException {
        if (held.filter(MappedFile::intact).isPresent()) {
            return held.get().again();
        }
        requireSame();
        return MappedFile.open(file);
    }

    /**
     * Returns the fingerprint of the content.
     *
     * @throws IOException if the content cannot be read any more
     */
    synchronized Fingerprint fingerprint() throws IOException {
        try {
            return fingerprintInPlace();
        } catch (IOException e) {
            if (held.isEmpty()) {
                throw e;
            }
            try (MappedFile mapping = held.get().again()) {
                Fingerprint loaded =
                        fingerprint.isPresent()
                                ? fingerprint.get()
                                : Fingerprints.of(identity, mapping.bytes(), mapping::releasePages);
                fingerprint = Optional.of(loaded);
                return loaded;
            } catch (IOException | UnsupportedPlatformException other) {
                e.addSuppressed(other);
                throw e;
            }
        }
    }

    private Fingerprint fingerprintInPlace() throws IOException {
        Fingerprint now = fingerprints.of(file);
        boolean same =
                fingerprint.isPresent()
                        ? now.content().equals(fingerprint.get().content())
                        : isUnwritten(now.identity());
        if (!same) {
            throw new IOException(file + " was replaced since it was loaded; load it again");
        }
        identity = now.identity();
        fingerprint = Optional.of(now);
        return now;
    }

    /**
     * Checks that the content is still that of a fingerprint. Must be called after something was
     * made from a mapping.
     *
     * @throws IOException if it was changed
     */
    synchronized void requireUnwritten(Fingerprint before, MappedFile mapping) throws IOException {
        if (held.isEmpty() || isInPlace()) {
            before.requireUnchanged(file);
        } else if (!mapping.intact()) {
            throw new IOException(file + " was changed in place while it was read");
        }
    }

    private boolean isInPlace() throws IOException {
        try {
            return FileIdentity.of(file).file().equals(identity.file());
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /**
     * Checks that the file under this name has the content. It is read only if something has
     * changed.
     *
     * @throws IOException if it has another content, or cannot be read
     */
    synchronized void requireSame() throws IOException {
        if (!FileIdentity.of(file).equals(identity)) {
            Fingerprint unused = fingerprintInPlace();
        }
    }

    /** Returns whether at most attributes, such as permissions, have changed. */
    private boolean isUnwritten(FileIdentity now) {
        return now.file().equals(identity.file())
                && now.bytes() == identity.bytes()
                && now.modifiedNanos() == identity.modifiedNanos();
    }

    @Override
    public void close() {
        held.ifPresent(MappedFile::close);
    }
}
