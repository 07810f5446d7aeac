"""Encoders, good and bad, for studies on maps."""

import time

import numpy as np

from aacbench.plugins import Encoder, EncoderClaims, Model, Parameter, hookimpl

STATE = {"asked": 0}


def tiles(images, side):
    pixels = images.shape[1] // side
    return images.reshape(len(images), side, pixels, side, pixels, 3).mean(axis=(2, 4))


def train_brightness(context):
    assert context.train.costs is not None
    assert context.oracle_costs is None
    return Model({"scale": np.array([0.01])}, brightness, {"side": context.side}, {"maps": len(context.train)})


def brightness(arrays, settings, images):
    return 0.1 + arrays["scale"][0] * tiles(images, int(settings["side"])).mean(axis=-1)


def answer(change):
    def train(context):
        return Model({}, change, {"side": context.side})

    return train


def ones(settings):
    side = int(settings["side"])
    return np.ones((1, side, side))


def nan(arrays, settings, images):
    costs = ones(settings)
    costs[0, 1, 2] = np.nan
    return costs


def zero(arrays, settings, images):
    return 0 * ones(settings)


def huge(arrays, settings, images):
    return 1e9 * ones(settings)


def flat(arrays, settings, images):
    return ones(settings)[0]


def counting(arrays, settings, images):
    STATE["asked"] += 1
    return ones(settings) * STATE["asked"]


def remembering(context):
    STATE["learnt"] = 3.0
    return Model({}, remembered, {"side": context.side})


def remembered(arrays, settings, images):
    return ones(settings) * STATE.get("learnt", 1.0)


def closing(context):
    learnt = 3.0

    def predict(arrays, settings, images):
        return ones(settings) * learnt

    return Model({}, predict, {"side": context.side})


def restless(context):
    return Model({"noise": np.array([time.time()])}, flat_ones, {"side": context.side})


def flat_ones(arrays, settings, images):
    return ones(settings)


def greedy(context):
    return Model({"costs": context.train.costs})


def sleepy(context):
    time.sleep(60)


def failing(context):
    raise ValueError("no idea")


def nothing(context):
    return None


@hookimpl
def aacbench_encoders():
    levels = {"level": Parameter(1, "unused", minimum=1)}
    yield Encoder("brightness", "bright cells cost more", train_brightness, "costs", parameters=levels)
    for name, train in {
        "nan": answer(nan),
        "zero": answer(zero),
        "huge": answer(huge),
        "flat": answer(flat),
        "counting": answer(counting),
        "remembering": remembering,
        "closing": closing,
        "sleepy": sleepy,
        "failing": failing,
        "nothing": nothing,
    }.items():
        yield Encoder(name, "a bad one", train, "nothing")
    yield Encoder("greedy", "needs costs that it did not ask for", greedy, "paths")
    yield Encoder("restless", "other bytes each time", restless, "nothing", EncoderClaims(deterministic=False))
