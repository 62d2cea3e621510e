package org.djlplan.integration.camel;

import org.apache.camel.builder.RouteBuilder;

/** A route that classifies the image in a message's body. */
public class ClassifyRoutes extends RouteBuilder {

    @Override
    public void configure() {
        // A model and a translator of the registry.
        from("direct:bound").to("djl:cv/image_classification?model=classifier&translator=labels");

        // The model of ai.djl.repository.zoo.location.
        from("direct:zoo")
                .to("djl:cv/image_classification?artifactId=ai.djl.localmodelzoo:classifier");
    }
}
