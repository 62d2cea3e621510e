package org.djlplan.memplan.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Starts a program of the tests in another JVM with this JVM's class path. */
public final class OtherJvm {

    private OtherJvm() {}

    /** The program's errors go to those of this process. */
    public static Process start(Class<?> program, Object... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        Arrays.stream(arguments).map(Object::toString).forEach(command::add);
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
