/** A web application of Spring Boot that embeds texts: code of docs/text.md. */
package org.djlplan.integration.embedding;
