package io.quartermaster.engine.state;

import io.quartermaster.engine.quota.QuotaNode;

/** The fair share of a node is not what it was. */
public record FairShareMoved(QuotaNode node) implements Touches.Touch {}
