package org.djlplan.memplan.internal.djl.purity;

import java.util.ArrayList;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Spliterator;
import org.djlplan.memplan.internal.djl.purity.Calls.Callee;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.Type;
import org.djlplan.thirdparty.asm.tree.MethodNode;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Analyzes the methods of collections and iterators of a user's classes that methods of the JDK or
 * of DJL call when they read the collection.
 */
final class OwnCollections {

    private static final ImmutableSet<String> READERS =
            ImmutableSet.copyOf(
                    Splitter.on(' ')
                            .split(
                                    "characteristics comparator contains containsAll containsKey"
                                            + " containsValue descendingIterator element entrySet"
                                            + " estimateSize first firstKey get getFirst getKey"
                                            + " getLast getOrDefault getValue hasMoreElements"
                                            + " hasNext hasPrevious indexOf isEmpty iterator"
                                            + " keySet last lastIndexOf lastKey listIterator next"
                                            + " nextElement nextIndex peek previous previousIndex"
                                            + " removeEldestEntry size spliterator subList toArray"
                                            + " trySplit values"));

    private static final ImmutableList<Class<?>> PARTS =
            ImmutableList.of(Iterator.class, Map.Entry.class, Enumeration.class, Spliterator.class);

    private final CodeReader code;
    private final Calls calls;

    /**
     * @param calls analyzes the methods
     */
    OwnCollections(CodeReader code, Calls calls) {
        this.code = code;
        this.calls = calls;
    }

    /**
     * Analyzes the collections that may be arguments of a call.
     *
     * @return the elements that their methods return
     */
    Value readArguments(int index, Callee callee, List<Value> operands) {
        Type[] types = Type.getArgumentTypes(callee.descriptor());
        int firstArgument = operands.size() - types.length;
        Value elements = Value.PLAIN;
        for (int i = 0; i < types.length; i++) {
            Optional<Class<?>> type =
                    types[i].getSort() == Type.OBJECT
                            ? calls.load(types[i].getInternalName())
                            : Optional.empty();
            if (type.filter(OwnCollections::isTraversed).isPresent()) {
                for (Class<?> receiver : code.receivers(type.get())) {
                    elements = elements.or(read(index, receiver, operands.get(firstArgument + i)));
                }
            }
        }
        return elements;
    }

    /** Returns whether methods read the elements of objects of a class. */
    static boolean isTraversed(Class<?> type) {
        return Iterable.class.isAssignableFrom(type)
                || Map.class.isAssignableFrom(type)
                || PARTS.stream().anyMatch(part -> part.isAssignableFrom(type));
    }

    /**
     * Analyzes a collection of a class on which a method of the JDK runs.
     *
     * @return the elements that its methods return
     */
    Value read(int index, Class<?> receiver, Value collection) {
        if (!isTraversed(receiver)) {
            return Value.PLAIN;
        }
        Value parts = readItself(index, receiver, collection);
        Value elements = parts;
        for (Class<?> part : PARTS) {
            for (Class<?> made : code.receivers(part)) {
                elements = elements.or(readItself(index, made, parts));
            }
        }
        return elements;
    }

    private Value readItself(int index, Class<?> receiver, Value object) {
        Value returned = Value.PLAIN;
        for (Class<?> type = receiver;
                type != null && !CodeReader.isStated(type);
                type = type.getSuperclass()) {
            Optional<ClassFile> file = code.file(type);
            if (file.isEmpty()) {
                continue;
            }
            for (MethodNode method : file.get().methods()) {
                if (READERS.contains(method.name)
                        && (method.access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) == 0
                        && ClassFile.hasCode(method)
                        && !takesFunction(method)) {
                    Callee callee = new Callee(type, method.name, method.desc);
                    returned =
                            returned.or(
                                    calls.inherited(
                                            index,
                                            receiver,
                                            callee,
                                            operands(object, method.desc),
                                            Value.PLAIN));
                }
            }
        }
        return returned;
    }

    private boolean takesFunction(MethodNode method) {
        for (Type type : Type.getArgumentTypes(method.desc)) {
            if (type.getSort() == Type.OBJECT
                    && calls.load(type.getInternalName())
                            .filter(JdkFacts::isFunction)
                            .isPresent()) {
                return true;
            }
        }
        return false;
    }

    private static List<Value> operands(Value object, String descriptor) {
        List<Value> operands = new ArrayList<>();
        operands.add(object);
        for (Type type : Type.getArgumentTypes(descriptor)) {
            operands.add(Value.plain(type.getSize()));
        }
        return operands;
    }
}
