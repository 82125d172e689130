"""The multiscale Laplacian kernel, one node and one pair at a time."""

from __future__ import annotations

import numpy as np


def covariance(A, U, nodes, eta, gamma):
    """Return U' (L + eta I)^-1 U + gamma I of the subgraph on some nodes."""
    nodes = list(nodes)
    inside = A[np.ix_(nodes, nodes)]
    L = np.diag(inside.sum(axis=1)) - inside + eta * np.eye(len(nodes))
    return U[nodes].T @ np.linalg.inv(L) @ U[nodes] + gamma * np.eye(U.shape[1])


def overlap(S, T):
    """Return |(S^-1 + T^-1) / 2|^(-1/2) / (|S| |T|)^(1/4)."""
    middle = (np.linalg.inv(S) + np.linalg.inv(T)) / 2
    return np.linalg.det(middle) ** -0.5 / (np.linalg.det(S) * np.linalg.det(T)) ** 0.25


def within(A, node, radius):
    """Return the nodes within so many steps of one."""
    found = {node}
    for _ in range(radius):
        found |= {v for u in found for v in np.flatnonzero(A[u])}
    return sorted(found)


def basis(K, dim):
    """Return eigenvectors over the roots of their eigenvalues, largest first, positive ones."""
    values, vectors = np.linalg.eigh(K)
    order = [i for i in np.argsort(-values)[:dim] if values[i] > 1e-6 * values.max()]
    return np.stack([vectors[:, i] / np.sqrt(values[i]) for i in order], axis=1)


def mlg(matrices, labels, levels, dim, eta, gamma):
    """Return the kernel of all graphs, every node being a sample; ``labels`` one-hot per graph."""
    where = [(g, v) for g, A in enumerate(matrices) for v in range(len(A))]
    start = np.concatenate(labels)
    features = start @ (start.T @ basis(start @ start.T, dim))
    bounds = np.concatenate([[0], np.cumsum([len(A) for A in matrices])])
    for level in range(1, levels + 1):
        S = []
        for g, v in where:
            U = features[bounds[g] : bounds[g + 1]]
            S.append(covariance(matrices[g], U, within(matrices[g], v, level), eta, gamma))
        K = np.array([[overlap(a, b) for b in S] for a in S])
        features = K @ basis(K, dim)
    S = [
        covariance(A, features[bounds[g] : bounds[g + 1]], range(len(A)), eta, gamma)
        for g, A in enumerate(matrices)
    ]
    return np.array([[overlap(a, b) for b in S] for a in S])
