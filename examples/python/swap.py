"""Swaps 10 USDC from the first chain to the second. It signs only what it has computed itself: see geo_op.py."""

import json
import os
import sys
import time

import requests
from eth_keys import keys

from geo_op import Refused, authorization_hash, number, order_digest, pinned_chain, verify

URL = os.environ["GEOSWAP_URL"]
wallet = keys.PrivateKey(bytes.fromhex(os.environ["GEOSWAP_EVM_KEY"].removeprefix("0x")))
address = wallet.public_key.to_checksum_address()
# The operator's deployment file. It must not come from the API: the API's answers are compared with it.
with open(os.environ["GEOSWAP_DEPLOYMENT"], encoding="utf-8") as file:
    pins = json.load(file)


def call(method: str, path: str, **options) -> dict:
    """Sends the same request again after a lost answer or a 5xx: that never makes a second swap."""
    for attempt in range(10):
        try:
            headers = {"x-api-key": os.environ["GEOSWAP_API_KEY"]}
            answer = requests.request(method, URL + path, headers=headers, timeout=30, **options)
        except requests.RequestException as error:
            print(f"{path}: {error}", file=sys.stderr)
        else:
            if answer.ok:
                return answer.json()
            error = answer.json()
            print(f"{path}: {error['code']}: {error['message']}", file=sys.stderr)
            if not error["retryable"]:
                sys.exit(f"the service refused it; next: {error['next']}")
        time.sleep(min(2**attempt, 15))
    sys.exit(f"{path} was not answered")


def usdc(chain: dict) -> str:
    return next(asset["address"] for asset in chain["assets"] if asset["symbol"] == "USDC")


origin, destination = pins["chains"][:2]
asked = {
    "originChain": origin["chainId"],
    "destinationChain": destination["chainId"],
    "inputToken": usdc(origin),
    "outputToken": usdc(destination),
    "amount": 10_000_000,
    "walletAddress": address,
    "recipient": address,
    "slippageBps": 50,
}

quote = call("POST", "/swap/quote", json={**asked, "amount": str(asked["amount"])})
print(quote["summary"], file=sys.stderr)

# The first swap of a wallet from a chain also signs a delegation, and only to the pinned delegate.
state = call("GET", f"/swap/delegation?chainId={asked['originChain']}&walletAddress={address}")
authorization = None
if not state["originReady"]:
    delegate = pinned_chain(pins, asked["originChain"])["contracts"]["delegate"]
    if state.get("blocked") or number(state["delegationTarget"]) != number(delegate):
        raise Refused(f"delegationTarget is {state.get('delegationTarget')}, and must be {delegate}")
    nonce = state["accountNonce"]
    signed = wallet.sign_msg_hash(authorization_hash(asked["originChain"], delegate, nonce))
    authorization = {
        "chainId": asked["originChain"],
        "address": delegate,
        "nonce": nonce,
        "yParity": signed.v,
        "r": hex(signed.r),
        "s": hex(signed.s),
    }

body = {"geoQuoteToken": quote["geoQuoteToken"]}
build = call("POST", "/swap/build-geo-op", json={**body, "authorization": authorization} if authorization else body)

# Raises Refused unless every field is what was asked for.
order = verify({**asked, "minOutput": 9_800_000}, quote, build, pins, int(time.time()))
# A signature of typed data is one of its digest. With eth-account: sign_typed_data(full_message=typed_data(order)).
op = wallet.sign_msg_hash(order_digest(order))
signature = "0x" + (op.r.to_bytes(32, "big") + op.s.to_bytes(32, "big") + bytes([27 + op.v])).hex()
body = {"geoOpToken": build["geoOpToken"], "signature": signature, "signatureKind": "typed"}
swap_id = call("POST", "/swap/submit", json=body)["swapId"]
print(f"submitted {swap_id}", file=sys.stderr)

status = {"status": "pending"}
while status["status"] == "pending":
    # The service holds the call until the swap ends, for 15 seconds at most.
    status = call("GET", f"/swap/status/{swap_id}")
    if status.get("held") is False:
        time.sleep(1)
print(status["status"], status.get("deliveryTxHash", ""))
