package org.djlplan.memplan.testing;

import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.internal.usage.UsageRecord;

/** Published planning problems, with the published sizes. */
public final class Vectors {

    /** The example of Pisarchyk and Lee 2020, figures 1 to 6. */
    public static final List<UsageRecord> PISARCHYK =
            records(0, 1, 32, 1, 4, 28, 2, 5, 36, 3, 5, 16, 4, 5, 8, 5, 7, 64, 6, 8, 10, 7, 8, 40);

    /** TensorFlow Lite, memory_management_test.cc, ChainRecords. */
    public static final List<UsageRecord> TFLITE_CHAIN =
            records(0, 1, 16, 1, 2, 8, 2, 3, 64, 3, 4, 32, 4, 5, 8);

    /** TensorFlow Lite, memory_management_test.cc, ComplexRecords. */
    public static final List<UsageRecord> TFLITE_COMPLEX =
            records(
                    0, 1, 32, 1, 4, 32, 2, 5, 8, 3, 5, 16, 4, 5, 8, 5, 7, 64, 6, 8, 8, 7, 8, 8, 8,
                    9, 16);

    /** OpenVINO, memory_solver_test.cpp, DISABLED_Unefficiency: optimum 5, OpenVINO finds 6. */
    public static final List<UsageRecord> OPENVINO_INEFFICIENCY =
            records(6, 7, 3, 2, 5, 2, 5, 8, 2, 2, 3, 2);

    /** OpenVINO, memory_solver_test.cpp, NoOverlapping: optimum 5, OpenVINO does not find it. */
    public static final List<UsageRecord> OPENVINO_NO_OVERLAPPING =
            records(4, 8, 1, 6, 7, 3, 2, 3, 3, 2, 4, 2);

    /**
     * Apache TVM, test_tir_usmp_algo.py, test_fanout, with intervals that give exactly its
     * conflicts: sid_2, sid_6, sid_7, sid_8, PaddedInput to PaddedInput_3, Conv2dOutput to
     * Conv2dOutput_3.
     */
    public static final List<UsageRecord> TVM_FANOUT =
            records(
                    0, 5, 720000, 4, 6, 5760000, 2, 3, 720000, 0, 1, 720000, 0, 0, 720000, 1, 2,
                    758912, 3, 4, 720000, 5, 6, 720000, 0, 0, 256, 2, 2, 256, 4, 4, 256, 6, 6, 256);

    private Vectors() {}

    /** Returns records numbered from 0 on, from triples of first, last and size. */
    public static List<UsageRecord> records(int... numbers) {
        List<UsageRecord> records = new ArrayList<>();
        for (int i = 0; i < numbers.length; i += 3) {
            records.add(new UsageRecord(i / 3, numbers[i], numbers[i + 1], numbers[i + 2]));
        }
        return records;
    }
}
