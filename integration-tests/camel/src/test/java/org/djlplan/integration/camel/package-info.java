/** Models in routes of Apache Camel: code of docs/pipelines/camel.md. */
package org.djlplan.integration.camel;
