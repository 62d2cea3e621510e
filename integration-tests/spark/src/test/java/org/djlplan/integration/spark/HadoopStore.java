package org.djlplan.integration.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.net.URI;
import java.util.EnumSet;
import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.djlplan.memplan.spi.SharedStore;

/**
 * A folder of a Hadoop file system whose renaming is atomic, as HDFS's is; that of object stores is
 * not.
 */
public class HadoopStore implements SharedStore, Serializable {

    private static final long serialVersionUID = 1;

    private final String folder;

    public HadoopStore(String folder) {
        this.folder = folder;
    }

    @Override
    public Optional<byte[]> get(String name) throws IOException {
        try (FSDataInputStream in = files().open(new Path(folder, name))) {
            byte[] content = in.readNBytes(MOST_BYTES + 1);
            if (content.length > MOST_BYTES) {
                throw new IOException(name + " is too large");
            }
            return Optional.of(content);
        } catch (FileNotFoundException e) {
            return Optional.empty();
        }
    }

    @Override
    public void put(String name, byte[] content) throws IOException {
        write(name, content, Options.Rename.OVERWRITE);
    }

    /** Where a rename copies or replaces, as in object stores, both of two would succeed. */
    @Override
    public boolean putIfAbsent(String name, byte[] content) throws IOException {
        URI root = files().getDefaultFileSystem().getUri();
        if (!root.getScheme().equals("hdfs")) {
            throw new IOException(root + " makes no file exclusively, as HDFS does");
        }
        try {
            write(name, content, Options.Rename.NONE);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    private void write(String name, byte[] content, Options.Rename how) throws IOException {
        FileContext files = files();
        Path temporary = new Path(folder, name + "." + UUID.randomUUID() + ".tmp");
        try {
            try (OutputStream out =
                    files.create(
                            temporary,
                            EnumSet.of(CreateFlag.CREATE),
                            Options.CreateOpts.createParent())) {
                out.write(content);
            }
            files.rename(temporary, new Path(folder, name), how);
        } catch (IOException e) {
            files.delete(temporary, false);
            throw e;
        }
    }

    private FileContext files() throws IOException {
        return FileContext.getFileContext(URI.create(folder), new Configuration());
    }

    @Override
    public String toString() {
        return folder;
    }
}
