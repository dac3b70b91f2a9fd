package io.quartermaster.ledger.audit;

/** A SHA-256 in lower-case hexadecimal digits. */
public record ChainHash(String hex) {
    private static final int DIGITS = 64;

    public ChainHash {
        if (hex.length() != DIGITS
                || !hex.chars().allMatch(digit -> Character.digit(digit, 16) >= 0 && !Character.isUpperCase(digit))) {
            throw new IllegalArgumentException("not a SHA-256 in lower-case hexadecimal digits: " + hex);
        }
    }

    @Override
    public String toString() {
        return hex;
    }
}
