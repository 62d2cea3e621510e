package org.djlplan.memplan.store;

/**
 * A value that is kept, and its key.
 *
 * @param <T> its kind
 * @param key what it depends on
 * @param value what it is
 */
public record Kept<T>(StoreKey key, T value) {}
