package org.djlplan.memplan.store;

import com.google.common.io.ByteSource;
import com.google.common.io.ByteStreams;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.djlplan.memplan.spi.SharedStore;

/**
 * A folder that several machines have mounted, with a file for each entry. It must be there: where
 * a mount is missing, nothing is to be kept in its place. Links in it are not followed.
 *
 * <p>Files are written beside their names and then renamed, or linked where none may be replaced.
 * Where the mount has no links, {@link #putIfAbsent} creates the file itself: whoever reads it at
 * that moment may get a part, which its checksum tells.
 */
public final class SharedFolder implements SharedStore {

    private final Path folder;

    /** Looks at nothing yet. */
    public SharedFolder(Path folder) {
        this.folder = folder;
    }

    @Override
    public Optional<byte[]> get(String name) throws IOException {
        Path file = folder.resolve(name);
        if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            requireFolder();
            return Optional.empty();
        }
        // Opening a pipe would wait for a writer, and a link may lead anywhere.
        if (!KeptFolders.isFile(file)) {
            throw new FileSystemException(file.toString(), null, "not a file");
        }
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            byte[] content = ByteStreams.limit(in, MOST_BYTES + 1L).readAllBytes();
            if (content.length > MOST_BYTES) {
                throw new FileSystemException(file.toString(), null, "too large");
            }
            return Optional.of(content);
        }
    }

    private void requireFolder() throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new NotDirectoryException(folder.toString());
        }
    }

    @Override
    public void put(String name, byte[] content) throws IOException {
        requireFolder();
        boolean unused = FileReplacement.replace(folder.resolve(name), ByteSource.wrap(content));
    }

    @Override
    public boolean putIfAbsent(String name, byte[] content) throws IOException {
        requireFolder();
        Path file = folder.resolve(name);
        Path temporary = FileReplacement.temporary(file);
        try {
            Files.write(temporary, content, StandardOpenOption.CREATE_NEW);
            link(file, temporary, content);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static void link(Path file, Path temporary, byte[] content) throws IOException {
        try {
            Files.createLink(file, temporary);
        } catch (FileAlreadyExistsException | NoSuchFileException e) {
            throw e;
        } catch (UnsupportedOperationException | IOException e) {
            Files.write(file, content, StandardOpenOption.CREATE_NEW);
        }
    }

    @Override
    public String toString() {
        return folder.toString();
    }
}
