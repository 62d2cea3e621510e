package org.djlplan.integration.contract;

import org.junit.jupiter.api.Tag;

/** The contract with ONNX Runtime. */
@Tag("onnxruntime")
class OrtContractTest extends SharingContract
        implements AnswerContract, FailureContract, LifecycleContract, ReportContract {

    @Override
    public EngineCase engine() {
        return EngineCase.ONNX_RUNTIME;
    }

    @Override
    int warningsOfManyLoads() {
        return 1;
    }
}
