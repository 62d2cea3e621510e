package org.djlplan.integration.contract;

import org.junit.jupiter.api.Tag;

/** The contract with ONNX Runtime. */
@Tag("onnxruntime")
class OrtContractTest
        implements AnswerContract,
                FailureContract,
                LifecycleContract,
                ReportContract,
                SharingContract {

    @Override
    public EngineCase engine() {
        return EngineCase.ONNX_RUNTIME;
    }

    @Override
    public int warningsOfManyLoads() {
        return 1;
    }
}
