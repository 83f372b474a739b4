"""Models of ai.onnx.ml with random numbers: linear ones, support vectors, trees, and what prepares features."""
import numpy as np
from check_operators import Case
from onnx import numpy_helper

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


def walk_trees(x, nodes, sets, leaves, roots, aggregate):
    """What the specification of TreeEnsemble says, row by row."""
    result = np.zeros((len(x), 3))
    for row, features_of_row in enumerate(x):
        found = {}
        for root in roots:
            way, is_leaf = root, 0
            while not is_leaf:
                feature, mode, split, true, true_leaf, false, false_leaf, missing = nodes[way]
                value = features_of_row[feature]
                holds = [value <= split, value < split, value >= split, value > split, value == split, value != split,
                         value in sets.get(way, [])][mode]
                if np.isnan(value):
                    holds = missing
                way, is_leaf = (true, true_leaf) if holds else (false, false_leaf)
            found.setdefault(leaves[way][0], []).append(x.dtype.type(leaves[way][1]))
        for target, weights in found.items():
            result[row, target] = [sum(weights) / len(roots), sum(weights), min(weights), max(weights)][aggregate]
    return result.astype(x.dtype)


def tree_ensemble(random, number):
    """Trees of opset 5: one share a leaf, decisions by sets too. ONNX Runtime 1.21 goes other ways through a fifth of them."""
    dtype = random.choice([f32, np.float64])
    kinds, nodes, leaves, sets = random.choice([[0, 1, 2, 3], [0, 6], [4, 5, 6]]), [], [], []

    def grow(depth):
        """Returns (number, whether it is a leaf)."""
        if depth == 3 or (depth > 0 and random.random() < 0.2):
            leaves.append((random.randrange(3), random.uniform(-1, 1)))
            return len(leaves) - 1, 1
        node = len(nodes)
        nodes.append(None)
        mode = random.choice(kinds)
        true, false = grow(depth + 1), grow(depth + 1)
        nodes[node] = (random.randrange(FEATURES), mode, 0 if mode == 6 else random.randint(-2, 2), *true, *false,
                       random.randint(0, 1))
        return node, 0

    roots = [grow(0)[0] for _ in range(3)]
    members = {}
    for i, node in enumerate(nodes):
        if node[1] == 6:
            members[i] = random.sample(range(-2, 3), random.randint(1, 4))
            sets += [*members[i], float("nan")]
    columns = [list(column) for column in zip(*nodes)]
    x = np.asarray([random.randint(-2, 2) for _ in range(ROWS * FEATURES)], dtype).reshape(ROWS, FEATURES)
    x[1, 1] = np.nan
    aggregate = random.choice([0, 1, 2, 3])
    expected = [walk_trees(x, nodes, members, leaves, roots, aggregate)]
    attributes = {} if not sets else {"membership_values": numpy_helper.from_array(np.asarray(sets, dtype))}
    made = case(f"tree_ensemble_{number}", "TreeEnsemble", [x], opset=5, nodes_featureids=columns[0],
                nodes_modes=numpy_helper.from_array(np.asarray(columns[1], np.uint8)),
                nodes_splits=numpy_helper.from_array(np.asarray(columns[2], dtype)),
                nodes_truenodeids=columns[3], nodes_trueleafs=columns[4], nodes_falsenodeids=columns[5],
                nodes_falseleafs=columns[6], nodes_missing_value_tracks_true=columns[7], tree_roots=roots, n_targets=3,
                leaf_targetids=[leaf[0] for leaf in leaves],
                leaf_weights=numpy_helper.from_array(np.asarray([leaf[1] for leaf in leaves], dtype)),
                aggregate_function=aggregate, **attributes)
    made.expected = expected
    return made


def double_trees(random, number):
    attributes, leaves = trees(random, ["BRANCH_LEQ"])
    for name in ("nodes_values",):
        attributes[name + "_as_tensor"] = numpy_helper.from_array(np.asarray(attributes.pop(name), np.float64))
    x = features(random).astype(np.float64)
    shares = [(tree, node, 0) for tree, node in leaves]
    weights = numpy_helper.from_array(np.asarray(floats(random, len(shares)), np.float64))
    return case(f"tree_regressor_double_{number}", "TreeEnsembleRegressor", [x], opset=3, n_targets=1,
                target_treeids=[share[0] for share in shares], target_nodeids=[share[1] for share in shares],
                target_ids=[0] * len(shares), target_weights_as_tensor=weights, **attributes)


def label_encoder(random, number):
    """From numbers or strings to numbers or strings, by attributes of opset 2 or tensors of opset 4."""
    def column(kind, count):
        if kind == "strings":
            return [f"word {i}" for i in range(count)]
        return list(range(-3, count - 3)) if kind == "int64s" else [i / 4 for i in range(count)]

    dtypes = {"strings": "U", "int64s": i64, "floats": f32}
    keys, values = random.choice(list(dtypes)), random.choice(list(dtypes))
    known = column(keys, 6)
    random.shuffle(known)
    x = np.asarray([random.choice(column(keys, 9)) for _ in range(8)]).astype(dtypes[keys])
    with_tensors = random.random() < 0.5 and keys != "strings" and values != "strings"
    if keys == "floats" and with_tensors:
        # What is not a number is a key as others are; up to opset 3, ONNX Runtime does not find it.
        known[0], x[3] = float("nan"), np.nan
    x = (x.astype(object) if keys == "strings" else x).reshape(2, 4)
    results = random.sample(column(values, 9), 6)
    if with_tensors:
        wide = {"int64s": i64, "floats": np.float64}
        return case(f"label_encoder_tensor_{number}", "LabelEncoder", [x.astype(wide[keys])], opset=4,
                    keys_tensor=numpy_helper.from_array(np.asarray(known, wide[keys])),
                    values_tensor=numpy_helper.from_array(np.asarray(results, wide[values])),
                    default_tensor=numpy_helper.from_array(np.asarray([7], wide[values])))
    return case(f"label_encoder_{keys}_{values}_{number}", "LabelEncoder", [x], opset=2,
                **{"keys_" + keys: known, "values_" + values: results})


def maps(random, number):
    # ONNX Runtime's maps are in the order of their keys.
    names = sorted(random.sample(["a", "b", "c", "d", "e"], FEATURES))
    numbers = sorted(random.sample(range(9), FEATURES))
    values = floats(random, FEATURES)
    sparse = {"map_form": "SPARSE", "max_map": 6} if random.random() < 0.5 else {}
    return random.choice([
        lambda: case(f"zip_map_{number}", "ZipMap", [features(random)],
                     **random.choice([{"classlabels_strings": names}, {"classlabels_int64s": numbers}])),
        lambda: case(f"dict_vectorizer_{number}", "DictVectorizer", [dict(zip(names, values))],
                     string_vocabulary=random.sample(["a", "b", "c", "d", "e"], 4)),
        lambda: case(f"dict_vectorizer_integers_{number}", "DictVectorizer", [dict(zip(numbers, values))],
                     int64_vocabulary=random.sample(range(9), 5)),
        lambda: case(f"cast_map_{number}", "CastMap", [dict(zip(numbers, values))],
                     cast_to=random.choice(["TO_FLOAT", "TO_INT64"]), **sparse),
    ])()


def named_classes(random, number):
    """Classifiers whose labels are strings."""
    made = random.choice([tree_classifier, support_vector_classifier])(random, number)
    labels = "classlabels_int64s" if "classlabels_int64s" in made.attributes else "classlabels_ints"
    made.attributes["classlabels_strings"] = [f"class {label}" for label in made.attributes.pop(labels)]
    made.name = "named_" + made.name
    return made


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
        lambda: case(f"category_mapper_{number}", "CategoryMapper", [np.asarray([[3, 1, 7], [5, -1, 3]], i64)],
                     cats_int64s=[1, 3, 5], cats_strings=["a", "", "é"], default_string="none"),
        lambda: case(f"category_mapper_texts_{number}", "CategoryMapper", [np.asarray(["é", "A", "a", ""], object)],
                     cats_int64s=[1, 3, -5], cats_strings=["a", "", "é"], default_int64=-7),
        lambda: case(f"label_encoder_{number}", "LabelEncoder", [np.asarray([3, 1, 7], i64)], opset=2,
                     keys_int64s=[1, 3], values_floats=floats(random, 2), default_float=0.5),
    ])()


def cases(random, count):
    for number in range(count):
        for draw in (linear, support_vector_regressor, support_vector_classifier, tree_regressor, tree_classifier,
                     tree_ensemble, double_trees, label_encoder, maps, named_classes, preparation):
            yield draw(random, number)
