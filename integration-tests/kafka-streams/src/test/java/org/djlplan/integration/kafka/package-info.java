/** Models in topologies of Kafka Streams: code of docs/pipelines/kafka-streams.md. */
package org.djlplan.integration.kafka;
