package org.djlplan.integration.torch.liveness;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles a class against the tests' DJL, once per version of its source. */
public final class Compiled extends ClassLoader {

    private final Map<String, byte[]> classes;

    private Compiled(Map<String, byte[]> classes) {
        super(Compiled.class.getClassLoader());
        this.classes = classes;
    }

    /** Returns the class with a name that the source declares, in a class loader of its own. */
    public static Class<?> load(String name, String source) throws ClassNotFoundException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Map<String, ByteArrayOutputStream> written = new HashMap<>();
        JavaFileManager files =
                new ForwardingJavaFileManager<>(compiler.getStandardFileManager(null, null, null)) {
                    @Override
                    public JavaFileObject getJavaFileForOutput(
                            Location location,
                            String className,
                            JavaFileObject.Kind kind,
                            javax.tools.FileObject sibling) {
                        return new SimpleJavaFileObject(
                                URI.create("mem:///" + className.replace('.', '/') + ".class"),
                                kind) {
                            @Override
                            public OutputStream openOutputStream() {
                                return written.computeIfAbsent(
                                        className, key -> new ByteArrayOutputStream());
                            }
                        };
                    }
                };
        JavaFileObject file =
                new SimpleJavaFileObject(
                        URI.create("mem:///" + name.replace('.', '/') + ".java"),
                        JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreErrors) {
                        return source;
                    }
                };
        StringWriter errors = new StringWriter();
        if (!compiler.getTask(errors, files, null, List.of("-nowarn"), null, List.of(file))
                .call()) {
            throw new IllegalArgumentException(errors.toString());
        }
        Map<String, byte[]> classes = new HashMap<>();
        written.forEach((className, bytes) -> classes.put(className, bytes.toByteArray()));
        return new Compiled(classes).loadClass(name);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] bytes = classes.get(name);
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    @Override
    public java.io.InputStream getResourceAsStream(String name) {
        byte[] bytes = classes.get(name.replace('/', '.').replaceFirst("\\.class$", ""));
        return bytes == null
                ? super.getResourceAsStream(name)
                : new java.io.ByteArrayInputStream(bytes);
    }
}
