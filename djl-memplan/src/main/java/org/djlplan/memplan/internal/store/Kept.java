package org.djlplan.memplan.internal.store;

/**
 * A stored value with its key.
 *
 * @param <T> its kind
 * @param key the facts that the value depends on
 * @param value the value
 */
public record Kept<T>(StoreKey key, T value) {}
