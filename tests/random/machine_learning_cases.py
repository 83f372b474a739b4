"""Models of ai.onnx.ml with random numbers: linear ones, support vectors, trees, and what prepares features."""
import numpy as np
from check_operators import Case

f32, i64 = np.float32, np.int64

ROWS, FEATURES = 5, 4
KERNEL = [0.3, 0.2, 2.0]  # gamma, coef0, degree


def floats(random, count, low=-1.0, high=1.0):
    return [float(f32(random.uniform(low, high))) for _ in range(count)]


def features(random):
    return np.asarray(floats(random, ROWS * FEATURES), f32).reshape(ROWS, FEATURES)


def case(name, op_type, inputs, outputs=1, opset=1, **attributes):
    return Case(name, op_type, opset, inputs, attributes, domain="ai.onnx.ml", outputs=outputs)


def linear(random, number):
    transform = random.choice(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
    if random.random() < 0.3:
        return case(f"linear_regressor_{number}", "LinearRegressor", [features(random)],
                    coefficients=floats(random, 2 * FEATURES), intercepts=floats(random, 2), targets=2,
                    post_transform=transform)
    # With one score for two classes the runtime and ONNX's reference differ, and the specification says nothing.
    return case(f"linear_classifier_{number}", "LinearClassifier", [features(random)], 2,
                coefficients=floats(random, 3 * FEATURES), intercepts=floats(random, 3), classlabels_ints=[4, 9, 2],
                post_transform=transform)


def support_vector_regressor(random, number):
    return case(f"svm_regressor_{number}", "SVMRegressor", [features(random)], coefficients=floats(random, 6),
                kernel_type=random.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]), kernel_params=KERNEL, n_supports=6,
                rho=floats(random, 1), support_vectors=floats(random, 6 * FEATURES), one_class=random.randint(0, 1))


def support_vector_classifier(random, number):
    sizes = random.choice([[2, 3], [2, 2, 3]])
    vectors, pairs = sum(sizes), len(sizes) * (len(sizes) - 1) // 2
    attributes = {"post_transform": random.choice(["NONE", "LOGISTIC", "SOFTMAX"]) if pairs > 1 else "NONE"}
    if random.random() < 0.4:
        attributes = {"prob_a": floats(random, pairs), "prob_b": floats(random, pairs)}
    # ONNX Runtime has a threshold of its own where no coefficient is negative.
    coefficients = [-0.5] + floats(random, (len(sizes) - 1) * vectors - 1)
    return case(f"svm_classifier_{number}", "SVMClassifier", [features(random)], 2, coefficients=coefficients, rho=floats(random, pairs),
                kernel_type=random.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]), kernel_params=KERNEL,
                support_vectors=floats(random, vectors * FEATURES), vectors_per_class=sizes,
                classlabels_ints=[3, 8, 5][:len(sizes)], **attributes)


def trees(random, modes):
    """The nodes of three full trees, and their leaves as (tree, node)."""
    depth, nodes, leaves = 3, [], []
    for tree in range(3):
        for node in range(2**(depth + 1) - 1):
            inner = node < 2**depth - 1
            nodes.append((tree, node, random.randrange(FEATURES) if inner else 0, random.choice(modes) if inner else "LEAF",
                          float(f32(random.uniform(-1, 1))), 2 * node + 1 if inner else 0, 2 * node + 2 if inner else 0,
                          random.randint(0, 1) if inner else 0))
            if not inner:
                leaves.append((tree, node))
    names = ["treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
             "missing_value_tracks_true"]
    return {"nodes_" + name: list(column) for name, column in zip(names, zip(*nodes))}, leaves


def tree_regressor(random, number):
    attributes, leaves = trees(random, ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
    x = features(random)
    x[0, 1] = np.nan
    shares = [(tree, node, target) for tree, node in leaves for target in range(2)]
    if random.random() < 0.5:
        attributes["base_values"] = floats(random, 2)
    return case(f"tree_regressor_{number}", "TreeEnsembleRegressor", [x], n_targets=2,
                aggregate_function=random.choice(["SUM", "AVERAGE", "MIN", "MAX"]),
                target_treeids=[share[0] for share in shares], target_nodeids=[share[1] for share in shares],
                target_ids=[share[2] for share in shares], target_weights=floats(random, len(shares)), **attributes)


def tree_classifier(random, number):
    attributes, leaves = trees(random, ["BRANCH_LEQ"])
    classes = random.choice([2, 3])
    # Leaves of two classes speak of one of them only; the sum of three is a probability where none is negative.
    targets = [random.randint(0, 1)] if classes == 2 else range(classes)
    shares = [(tree, node, target) for tree, node in leaves for target in targets]
    return case(f"tree_classifier_{number}", "TreeEnsembleClassifier", [features(random)], 2,
                class_treeids=[share[0] for share in shares], class_nodeids=[share[1] for share in shares],
                class_ids=[share[2] for share in shares],
                class_weights=floats(random, len(shares), random.choice([-1, 0]), 0.33),
                classlabels_int64s=[10, 20, 30][:classes],
                post_transform=random.choice(["NONE", "LOGISTIC", "SOFTMAX"]) if classes == 3 else "NONE",
                **attributes)


def preparation(random, number):
    x = features(random)
    missing = x.copy()
    missing[1, 2] = np.nan
    return random.choice([
        lambda: case(f"normalizer_{number}", "Normalizer", [x], norm=random.choice(["MAX", "L1", "L2"])),
        lambda: case(f"scaler_{number}", "Scaler", [x], offset=floats(random, FEATURES), scale=floats(random, FEATURES)),
        lambda: case(f"scaler_one_{number}", "Scaler", [x], offset=floats(random, 1), scale=floats(random, 1)),
        lambda: case(f"binarizer_{number}", "Binarizer", [x], threshold=0.2),
        lambda: case(f"imputer_{number}", "Imputer", [missing], imputed_value_floats=floats(random, FEATURES),
                     replaced_value_float=float("nan")),
        lambda: case(f"array_feature_extractor_{number}", "ArrayFeatureExtractor",
                     [x, np.asarray([random.randrange(FEATURES) for _ in range(3)], i64)]),
        lambda: case(f"feature_vectorizer_{number}", "FeatureVectorizer", [x, features(random)],
                     inputdimensions=[FEATURES, FEATURES]),
        lambda: case(f"one_hot_encoder_{number}", "OneHotEncoder", [np.asarray([3, 1, 7], i64)], cats_int64s=[1, 3, 5]),
        lambda: case(f"label_encoder_{number}", "LabelEncoder", [np.asarray([3, 1, 7], i64)], opset=2,
                     keys_int64s=[1, 3], values_floats=floats(random, 2), default_float=0.5),
    ])()


def cases(random, count):
    for number in range(count):
        for draw in (linear, support_vector_regressor, support_vector_classifier, tree_regressor, tree_classifier,
                     preparation):
            yield draw(random, number)
