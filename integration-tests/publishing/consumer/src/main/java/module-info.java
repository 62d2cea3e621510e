/** Read on the module path only. */
module consumer {
    requires ai.djl.api;
    requires org.djlplan.memplan;
}
