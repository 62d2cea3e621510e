package org.djlplan.memplan.djl.liveness;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterServer;
import ai.djl.training.ParameterStore;

/** Hands out stand-ins for the parameters of another store. */
final class RecordingStore extends ParameterStore {

    private final ParameterStore real;
    private final ArrayProxies proxies;
    private final Recorder recorder;

    RecordingStore(ParameterStore real, ArrayProxies proxies, Recorder recorder) {
        super(real.getManager(), false);
        this.real = real;
        this.proxies = proxies;
        this.recorder = recorder;
    }

    /** Returns the store that parameters come from. */
    ParameterStore real() {
        return real;
    }

    @Override
    public NDArray getValue(Parameter parameter, Device device, boolean training) {
        NDArray value = real.getValue(parameter, device, training);
        return value == null || recorder.over() ? value : (NDArray) proxies.proxy(value);
    }

    @Override
    public NDManager getManager() {
        NDManager manager = real.getManager();
        return recorder.over() ? manager : (NDManager) proxies.proxy(manager);
    }

    @Override
    public void setParameterServer(ParameterServer server, Device[] devices) {
        real.setParameterServer(server, devices);
    }

    @Override
    public void updateAllParameters() {
        real.updateAllParameters();
    }

    @Override
    public void sync() {
        real.sync();
    }
}
