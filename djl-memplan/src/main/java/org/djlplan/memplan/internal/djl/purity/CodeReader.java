package org.djlplan.memplan.internal.djl.purity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.nn.Block;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.djlplan.thirdparty.asm.Handle;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.Type;
import org.djlplan.thirdparty.asm.tree.InvokeDynamicInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodNode;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.reflect.TypeToken;

/**
 * Analyzes all code that a block's forward pass for inference may reach, starting from {@link
 * Block#forward}. The targets of a virtual call follow from the classes of the objects that the
 * block references and that the code creates (rapid type analysis, Bacon and Sweeney 1996). Each
 * method is analyzed once per set of constant arguments, because {@code training} often determines
 * the path; all of them are analyzed again until nothing changes.
 */
final class CodeReader {

    private static final String FORWARD = "forward";
    private static final String FORWARD_DESCRIPTOR =
            "(Lai/djl/training/ParameterStore;Lai/djl/ndarray/NDList;ZLai/djl/util/PairList;)"
                    + "Lai/djl/ndarray/NDList;";
    private static final String LAMBDA = "$$Lambda";
    private static final int MOST_ROUNDS = 12;
    private static final int MOST_READINGS = 5_000;

    /** Methods that the JDK calls implicitly, for example when an object is put into a map. */
    private static final ImmutableList<String> CALLED_BY_JDK =
            ImmutableList.of("equals", "hashCode", "toString", "compareTo");

    /** A method with the known constants among its arguments. */
    record Key(Class<?> owner, String method, String constants) {}

    /** A lambda expression or method reference, and the number of captured arguments. */
    record Lambda(Class<?> host, Handle body, String type, Type[] captured, Type called) {}

    private final Block block;
    private final Set<Class<?>> classes = new LinkedHashSet<>();
    private final KnownFunctions functions = new KnownFunctions();
    private final Map<Key, Summary> summaries = new HashMap<>();
    private final Set<Key> done = new LinkedHashSet<>();
    private final Findings findings = new Findings();
    private final Map<String, Optional<Class<?>>> loaded = new HashMap<>();
    private final ClassFilesHash classFiles = new ClassFilesHash();
    private final Set<Class<?>> statics = new LinkedHashSet<>();
    private boolean grown;
    private int readings;

    CodeReader(Block block) {
        this.block = block;
    }

    BlockCode read() {
        try {
            follow();
        } catch (LinkageError | StackOverflowError | RuntimeException e) {
            find(Finding.Kind.OPAQUE, block.getClass(), "has code that cannot be read: " + e);
        }
        return new BlockCode(classFiles.hash(), findings.all(), statics, classFiles.names());
    }

    private void follow() {
        made(block.getClass());
        if (!ObjectWalk.walk(ImmutableList.of(block), ImmutableList.of(), this::hold)) {
            find(Finding.Kind.OPAQUE, block.getClass(), "holds objects that cannot be looked into");
        }
        int rounds = 0;
        do {
            grown = false;
            done.clear();
            new Flow(this, block.getClass()).callFromOutside(FORWARD, FORWARD_DESCRIPTOR);
            // These methods read values only for logs and maps.
            findings.ignoringLooks(
                    () -> ImmutableList.copyOf(classes).forEach(this::readJdkCallbacks));
        } while (grown && !findings.areOpaque() && ++rounds < MOST_ROUNDS);
        if (grown && !findings.areOpaque()) {
            find(Finding.Kind.OPAQUE, block.getClass(), "reaches too much code to be read");
        }
    }

    private void readJdkCallbacks(Class<?> type) {
        if (type.getName().startsWith("ai.djl.")) {
            return;
        }
        Optional<ClassFile> file = file(type);
        if (file.isEmpty()) {
            return;
        }
        for (MethodNode method : file.get().methods()) {
            if (CALLED_BY_JDK.contains(method.name)
                    && (method.access & Opcodes.ACC_STATIC) == 0
                    && ClassFile.hasCode(method)) {
                new Flow(this, type).callFromOutside(method.name, method.desc);
            }
        }
    }

    /** Records an object that the code may reach. */
    private void hold(Object holder, String place, Object object) {
        Class<?> type = object.getClass();
        if (!isLambda(type)) {
            made(type);
            return;
        }
        Set<Lambda> candidates = ofDeclaredType(holder.getClass(), place, candidates(type));
        candidates.forEach(this::escaped);
        for (Class<?> at = holder.getClass();
                at != null && !place.isEmpty();
                at = at.getSuperclass()) {
            functions.addTo(field(at.getName(), place), candidates);
        }
    }

    /** Returns the functions that match the field's declared type, if there are any. */
    private static Set<Lambda> ofDeclaredType(
            Class<?> holder, String place, Set<Lambda> candidates) {
        for (Class<?> at = holder; at != null; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (field.getName().equals(place)
                        && field.getGenericType() instanceof ParameterizedType declared
                        && field.getType() == Function.class
                        && isKnown(declared.getActualTypeArguments()[0])) {
                    Class<?> taken =
                            TypeToken.of(declared.getActualTypeArguments()[0]).getRawType();
                    Set<Lambda> fitting = new LinkedHashSet<>(candidates);
                    fitting.removeIf(lambda -> !accepts(lambda, taken));
                    return fitting.isEmpty() ? candidates : fitting;
                }
            }
        }
        return candidates;
    }

    private static boolean isKnown(java.lang.reflect.Type argument) {
        return argument instanceof Class<?> || argument instanceof ParameterizedType;
    }

    /**
     * Returns whether a function may have the declared type: its parameter has that type or, if a
     * generic method made the function, the type of all objects.
     */
    private static boolean accepts(Lambda lambda, Class<?> taken) {
        Type parameter = lambda.called().getArgumentTypes()[0];
        return parameter.equals(Type.getType(taken))
                || parameter.equals(Type.getType(Object.class));
    }

    private static boolean isLambda(Class<?> type) {
        return type.isHidden() || type.getName().contains(LAMBDA);
    }

    /** Returns the name of a field; fields of a lambda object are named after its class. */
    static String field(String className, String name) {
        int end = className.indexOf(LAMBDA);
        return (end < 0 ? className : className.substring(0, end)) + '#' + name;
    }

    /** Records that a field may later have other content. */
    void writes(String field) {
        grown |= functions.noteWrite(field);
    }

    /** Records a class that has instances. */
    void made(Class<?> type) {
        if (!isStated(type) && !type.isArray() && classes.add(type)) {
            grown = true;
            Optional<ClassFile> unused = file(type);
        }
    }

    /**
     * An object does not show which lambda expression created it: all those in the surrounding
     * class with the same type and the same captured types are assumed.
     */
    private Set<Lambda> candidates(Class<?> type) {
        Set<Lambda> candidates = new LinkedHashSet<>();
        int end = type.getName().indexOf(LAMBDA);
        Optional<Class<?>> host =
                end < 0
                        ? Optional.empty()
                        : load(type.getName().substring(0, end), type.getClassLoader());
        Optional<ClassFile> file = host.flatMap(this::file);
        if (file.isPresent()) {
            List<String> captured = new ArrayList<>();
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    captured.add(Type.getDescriptor(field.getType()));
                }
            }
            List<String> interfaces = new ArrayList<>();
            for (Class<?> implemented : type.getInterfaces()) {
                interfaces.add(Type.getInternalName(implemented));
            }
            for (InvokeDynamicInsnNode site : file.get().lambdas()) {
                Lambda lambda = lambda(host.get(), site);
                List<String> brought = new ArrayList<>();
                for (Type argument : lambda.captured()) {
                    brought.add(argument.getDescriptor());
                }
                if (interfaces.contains(lambda.type()) && brought.equals(captured)) {
                    candidates.add(lambda);
                }
            }
        }
        if (candidates.isEmpty()) {
            find(Finding.Kind.OPAQUE, type, "is a function whose code is not known");
        }
        return candidates;
    }

    static Lambda lambda(Class<?> host, InvokeDynamicInsnNode site) {
        return new Lambda(
                host,
                ClassFile.body(site),
                Type.getReturnType(site.desc).getInternalName(),
                Type.getArgumentTypes(site.desc),
                (Type) site.bsmArgs[2]);
    }

    /** Records a function that may be called from anywhere. */
    void escaped(Lambda lambda) {
        grown |= functions.escape(lambda);
    }

    /**
     * Returns the functions that an interface call may reach.
     *
     * @param field in which the function was found, if known
     */
    List<Lambda> functions(Class<?> type, Optional<String> field) {
        List<Lambda> found = new ArrayList<>();
        for (Lambda lambda : functions.reachable(field)) {
            Optional<Class<?>> implemented =
                    load(lambda.type().replace('/', '.'), lambda.host().getClassLoader());
            if (implemented.isPresent() && type.isAssignableFrom(implemented.get())) {
                found.add(lambda);
            }
        }
        return found;
    }

    /** Returns the possible classes of the target of a virtual call. */
    List<Class<?>> receivers(Class<?> type) {
        List<Class<?>> found = new ArrayList<>();
        for (Class<?> known : classes) {
            if (type.isAssignableFrom(known)) {
                found.add(known);
            }
        }
        return found;
    }

    /** Returns whether the methods of a class have stated effects. */
    static boolean isStated(Class<?> type) {
        return JdkFacts.cover(type) || DjlFacts.cover(type);
    }

    static boolean isReference(Type type) {
        return type.getSort() == Type.OBJECT || type.getSort() == Type.ARRAY;
    }

    static boolean isArrayClass(Class<?> type) {
        return NDArray.class.isAssignableFrom(type)
                || NDArrayEx.class.isAssignableFrom(type)
                || NDManager.class.isAssignableFrom(type);
    }

    /** Returns a class, not initialized; empty if there is none. */
    Optional<Class<?>> load(String name, ClassLoader loader) {
        return loaded.computeIfAbsent(
                name,
                key -> {
                    try {
                        return Optional.of(Class.forName(name, false, loader));
                    } catch (ClassNotFoundException | LinkageError e) {
                        return Optional.empty();
                    }
                });
    }

    /** Returns the class file of a class, on which the result depends from now on. */
    Optional<ClassFile> file(Class<?> type) {
        return classFiles.file(type);
    }

    void find(Finding.Kind kind, Class<?> where, String what) {
        int end = where.getName().indexOf(LAMBDA);
        String name = end < 0 ? where.getName() : where.getName().substring(0, end);
        find(new Finding(kind, name, what));
    }

    void find(Finding finding) {
        findings.add(finding);
    }

    /** Follows the static fields of a class that the code reads. */
    void reads(Class<?> type) {
        if (isStated(type) || !statics.add(type)) {
            return;
        }
        try {
            Class<?> unused = Class.forName(type.getName(), true, type.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            find(Finding.Kind.OPAQUE, type, "cannot be initialized");
            return;
        }
        if (!ObjectWalk.walk(ImmutableList.of(), ImmutableList.of(type), this::hold)) {
            find(Finding.Kind.OPAQUE, type, "holds objects that cannot be looked into");
        }
    }

    /** Returns the effects of a method, as far as known in this round. */
    Summary summary(Class<?> owner, MethodNode method, List<Value> operands) {
        StringBuilder constants = new StringBuilder();
        List<Value> arguments = new ArrayList<>();
        for (Value operand : operands) {
            // Analyzing a method again is worthwhile only for flags.
            int flag = operand.constant().orElse(-1);
            boolean known = flag == 0 || flag == 1;
            constants.append(known ? (char) ('0' + flag) : '?');
            operand.field().filter(functions::hasFunctions).ifPresent(constants::append);
            arguments.add(
                    known || operand.constant().isEmpty() ? operand : Value.plain(operand.size()));
        }
        Key key = new Key(owner, method.name + method.desc, constants.toString());
        Summary summary = summaries.computeIfAbsent(key, unused -> new Summary());
        if (readings > MOST_READINGS) {
            find(Finding.Kind.OPAQUE, block.getClass(), "reaches too much code to be read");
        }
        // If some code is opaque, nothing analyzed later can change the result.
        if (!findings.areOpaque() && done.add(key)) {
            readings++;
            int before = summary.extent();
            new Flow(this, owner).read(method, arguments, summary);
            grown |= summary.extent() != before;
        }
        return summary;
    }
}
