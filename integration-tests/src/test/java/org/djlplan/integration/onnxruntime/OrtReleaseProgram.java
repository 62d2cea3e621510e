package org.djlplan.integration.onnxruntime;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import com.sun.jna.Function;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.Permission;
import java.util.List;
import org.djlplan.integration.contract.EngineCase;
import org.djlplan.integration.contract.ModelCase;
import org.djlplan.memplan.PlanHandle;

/**
 * Predicts each model stock and planned. Prints whether the models are planned, or why not, and
 * whether the outputs are the same.
 */
final class OrtReleaseProgram {

    /** The argument that makes the application register its own allocator. */
    static final String OWN_ALLOCATOR = "own-allocator";

    /** The argument that denies access to private fields of the Java binding. */
    static final String NO_REFLECTION = "no-reflection";

    private static final int INPUTS = 20;
    private static final int CREATE_CPU_MEMORY_INFO = 69;
    private static final int CREATE_AND_REGISTER_ALLOCATOR = 144;
    private static final int ARENA_ALLOCATOR = 1;

    private OrtReleaseProgram() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        // DJL's engine reports only the version that it was built with.
        Object environment = environment();
        System.out.println(
                "engine " + environment.getClass().getMethod("getVersion").invoke(environment));
        if (List.of(arguments).contains(OWN_ALLOCATOR)) {
            registerAllocator();
        }
        if (List.of(arguments).contains(NO_REFLECTION)) {
            denyReflection();
        }
        for (ModelCase each : EngineCase.ONNX_RUNTIME.models(folder)) {
            List<List<ByteBuffer>> expected = each.stock(INPUTS);
            try (ZooModel<NDList, NDList> planned = each.load()) {
                int same = 0;
                for (int i = 0; i < INPUTS; i++) {
                    same += expected.get(i).equals(each.predict(planned, i)) ? 1 : 0;
                }
                String reason =
                        PlanHandle.of(planned)
                                .flatMap(plan -> plan.report().unplannedReason())
                                .orElse("planned");
                System.out.println(same + " same, " + reason);
            }
        }
    }

    /** Denies reflection as a module does that opens nothing. */
    @SuppressWarnings("removal") // the JVM of the tests has it
    private static void denyReflection() {
        System.setSecurityManager(
                new SecurityManager() {
                    @Override
                    public void checkPermission(Permission permission) {
                        if (!permission.getName().equals("suppressAccessChecks")) {
                            return;
                        }
                        // Uses no lambda, because a lambda would check permissions, too.
                        for (StackTraceElement frame : new Throwable().getStackTrace()) {
                            if (frame.getClassName().endsWith(".OrtBinding")) {
                                throw new SecurityException("no reflection today");
                            }
                        }
                    }
                });
    }

    /** Returns the environment, which the engine makes. */
    private static Object environment() throws ReflectiveOperationException {
        Engine unused = Engine.getEngine("OnnxRuntime");
        return Class.forName("ai.onnxruntime.OrtEnvironment")
                .getMethod("getEnvironment")
                .invoke(null);
    }

    /** Registers an allocator through the C interface. */
    private static void registerAllocator() throws ReflectiveOperationException {
        Pointer api = new Pointer((long) field("ai.onnxruntime.OnnxRuntime", "ortApiHandle", null));
        Object environment = environment();
        Pointer handle =
                new Pointer(
                        (long)
                                field(
                                        environment.getClass().getName(),
                                        "nativeHandle",
                                        environment));
        PointerByReference info = new PointerByReference();
        call(api, CREATE_CPU_MEMORY_INFO, ARENA_ALLOCATOR, 0, info);
        call(api, CREATE_AND_REGISTER_ALLOCATOR, handle, info.getValue(), null);
    }

    private static void call(Pointer api, int entry, Object... arguments) {
        Pointer function = api.getPointer((long) entry * Long.BYTES);
        Pointer status = Function.getFunction(function).invokePointer(arguments);
        if (status != null) {
            throw new IllegalStateException("entry " + entry + " fails");
        }
    }

    private static Object field(String type, String name, Object owner)
            throws ReflectiveOperationException {
        Field field = Class.forName(type).getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }
}
