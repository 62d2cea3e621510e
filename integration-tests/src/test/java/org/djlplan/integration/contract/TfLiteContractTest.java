package org.djlplan.integration.contract;

import org.djlplan.integration.support.OnEveryDjl;

/** The contract with TensorFlow Lite. */
@OnEveryDjl
class TfLiteContractTest
        implements AnswerContract,
                FailureContract,
                LifecycleContract,
                ReportContract,
                SharingContract {

    @Override
    public EngineCase engine() {
        return EngineCase.TFLITE;
    }

    @Override
    public int warningsOfManyLoads() {
        return 0;
    }
}
