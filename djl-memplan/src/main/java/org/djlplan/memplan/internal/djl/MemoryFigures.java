package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.nn.SymbolBlock;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.report.MemoryReport;

/** Measures the memory of the process by purpose, for one model. */
public final class MemoryFigures {

    private MemoryFigures() {}

    /** Returns the current figures; empty if the system does not report them. */
    public static Optional<MemoryReport> now(Model model) {
        ProcessMemory process = new ProcessMemory();
        Optional<ProcessMemory.Mappings> mappings = process.mappings();
        Optional<ProcessMemory.NativeHeap> nativeHeap = ProcessMemory.nativeHeap();
        if (process.residentBytes().isEmpty() || mappings.isEmpty() || nativeHeap.isEmpty()) {
            return Optional.empty();
        }
        long resident = process.residentBytes().getAsLong();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        long code = compiledCode();
        long jvm = ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage().getCommitted();
        long arenas = ArenaPool.shared().metric().arenaBytes() + OutputArena.shared().bytes();
        long kernels = Math.max(0, mappings.get().codeBytes() - code);
        long used = nativeHeap.get().usedBytes();
        long ofModel = Math.min(weights(model), used);
        long kept = nativeHeap.get().takenBytes() - used;
        long files = mappings.get().fileBytes();
        long rest = resident - heap - jvm - arenas - kernels - used - kept - files;
        return Optional.of(
                new MemoryReport(
                        resident,
                        heap,
                        jvm,
                        ofModel,
                        arenas,
                        kernels,
                        used - ofModel,
                        kept,
                        files,
                        rest));
    }

    /** Returns the memory that the JVM has committed for compiled code. */
    private static long compiledCode() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getName().startsWith("Code"))
                .map(MemoryPoolMXBean::getUsage)
                .mapToLong(MemoryUsage::getCommitted)
                .sum();
    }

    /**
     * Returns the native memory of weights: for a TorchScript model the size of its file, which is
     * slightly more; for an ONNX Runtime model the allocations of its session. 0 for models of
     * other engines, which map their file, and for models with a budget, whose weights are loaded
     * and dropped.
     */
    private static long weights(Model model) {
        OptionalLong counted =
                ModelHandle.of(model).map(ModelHandle::weightsBytes).orElse(OptionalLong.empty());
        if (counted.isPresent()) {
            return counted.getAsLong();
        }
        if (!model.getNDManager().getEngine().getEngineName().equals("PyTorch")
                || ModelHandle.of(model).filter(ModelHandle::hasBudget).isPresent()) {
            return 0;
        }
        if (!(model.getBlock() instanceof SymbolBlock)) {
            return ParameterMove.bytes(model.getBlock());
        }
        Optional<Path> file = PyTorchModelKey.file(model);
        try {
            return file.isPresent() ? Files.size(file.get()) : 0;
        } catch (IOException e) {
            return 0;
        }
    }
}
