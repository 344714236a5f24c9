// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Mandate} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {EscrowState, IGeoEscrow, Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {IGeoPayer} from "../../src/interfaces/IGeoPayer.sol";
import {termsOf, unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {CodedWallet} from "../mocks/CodedWallet.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {OpenActions} from "./OpenActions.sol";

/// @dev Batches with honest and hostile items, agents within and outside of their mandates, and orders without a
/// signature.
abstract contract WalletActions is OpenActions {
    uint256 private constant ITEM_GAS = 400_000;
    bytes32 private constant REVOKE_TYPEHASH = keccak256("RevokeMandates(address wallet,uint64 epoch)");

    /// @dev The orders of a batch that must open, regardless of the others.
    bytes32[] private _sure;

    /// @dev Honest items must open beside items that have no money, no signature, or hostile code.
    function openMany(uint256 seed) external {
        uint256 chain = _begin(seed);
        delete _sure;
        Opening[] memory items = new Opening[](2 + _rand(4));
        for (uint256 i = 0; i < items.length; ++i) {
            items[i] = _oneIn(2) ? _honestItem(chain) : _hostileItem(chain, items, i);
        }
        // The gas of a batch, which is all that its items may use.
        uint256 gas = 100_000;
        for (uint256 i = 0; i < items.length; ++i) {
            gas += items[i].gas * 64 / 63 + 50_000;
        }
        bool ok = _openMany(chain, items, gas);
        burner.arm(new Intruder.Call[](0));
        _check(ok, "batch: an item made all others fail");
        _end("openMany", IGeoEscrow.Opened.selector);
        _checkSure();
    }

    /// @dev A batch that is handed too little gas for an honest item that needs much must fail as a whole.
    function openManyStarved(uint256 seed) external {
        uint256 chain = _begin(seed);
        delete _sure;
        Opening[] memory items = new Opening[](1);
        Order memory order = _newOrder(chain, 1 - chain);
        (order.wallet, order.inputToken) = (word(address(refuser)), word(address(plain)));
        items[0] = _item(order, abi.encodePacked(CodedWallet.Way.Slow));
        items[0].gas = 1_200_000;
        _sure.push(order.orderId());
        bool ok = _openMany(chain, items, 400_000 + _rand(1_200_000));
        _book(0);
        if (ok) _checkSure();
        else ++effects["openManyStarved"];
    }

    function openByAgent(uint256 seed) external {
        uint256 chain = _begin(seed);
        if (_oneIn(12)) return _revoke(wallets[_rand(DELEGATED)]);
        uint256 grant = _someGrant(chain);
        Order memory order = _agentsOrder(chain, grant);
        _register(order, true);
        _openFor(order, _agentsProof(order, grant));
        _end("openByAgent", IGeoEscrow.Opened.selector);
    }

    /// @dev An agent that was robbed, or is a robber. The books judge what it gets through.
    function agentLeavesItsMandate(uint256 seed) external {
        uint256 chain = _begin(seed);
        uint256 grant = _someGrant(chain);
        Mandate memory mandate = _grantOf(grant);
        Order memory order = _agentsOrder(chain, grant);
        uint256 kind = _rand(16);
        if (kind == 0) order.recipient = word(stranger);
        if (kind == 1) order.originVault = word(stranger);
        if (kind == 2) order.destinationChainId = _chainId(chain);
        if (kind == 2) order.destinationVault = word(address(fakeVault));
        if (kind == 3) order.attesterSet = _strangersSet();
        if (kind == 4) order.inputToken = word(address(blocking));
        if (kind == 5) order.inputAmount = uint256(mandate.inputs[0].maxAmount) + mandate.inputs[1].maxAmount;
        if (kind == 6) order.destinationChainId = SOLANA;
        if (kind == 6) order.recipient = order.wallet;
        if (kind == 7) order.outputToken = keccak256("a token that nobody listed");
        if (kind == 8) order = _later(chain, grant, mandate.expiry);
        if (kind == 9) _revoke(mandate.wallet);
        // Another wallet pays, or the mandate is another chain's, an older one, a forged one.
        if (kind == 10) order.wallet = word(mandate.wallet == wallets[0] ? wallets[1] : wallets[0]);
        if (kind == 11) grant = _grant(1 - chain, mandate, _walletKey(mandate.wallet));
        if (kind == 12) (grant, order) = _older(chain);
        if (kind == 15) grant = _misnamed(chain, mandate);
        // The first kinds make orders of other desks.
        _register(order, kind > 7);
        bytes memory proof = _agentsProof(order, grant);
        if (kind == 13) proof = bytes.concat(_signed(TYPED, _strangersKey(), _orderDigest(order)), grants[grant].data);
        if (kind == 14) proof = _forgedProof(chain, mandate, order);
        if (kind == 13 || kind == 14) delete consents[order.orderId()];
        _openFor(order, proof);
        _book(0);
        // Again immediately, so that what was used must count.
        if (kind == 5 || kind > 9) return _endLeaving();
        order = _agentsOrder(chain, grant);
        _register(order, true);
        _openFor(order, _agentsProof(order, grant));
        _book(0);
        _endLeaving();
    }

    /// @dev Signed by a third party, signed for another chain, offered twice, or requested by a caller other than the
    /// escrow.
    function openUnsigned(uint256 seed) external {
        uint256 chain = _begin(seed);
        Order memory order = _newOrder(chain, 1 - chain);
        order.wallet = word(wallets[_rand(DELEGATED)]);
        uint256 kind = _rand(7);
        if (kind < 3 && ids.length != 0) return _replay(kind);
        _register(order, true);
        if (kind == 3) {
            _openFor(order, _signed(uint8(_rand(2)), _strangersKey(), _orderDigest(order)));
        } else if (kind == 4) {
            _revokeWrongly(unword(order.wallet));
        } else if (kind == 5) {
            // Anyone but the escrow, with a proof that is good.
            bytes memory proof = _ownersProof(order, TYPED);
            bytes memory data = abi.encodeCall(IGeoPayer.pay, (order.orderId(), termsOf(order), proof));
            _call(_oneIn(2) ? stranger : address(escrows[1 - chain]), unword(order.wallet), data);
        } else {
            // As a hostile escrow would, with the proof of one order and the terms of another.
            bytes memory proof = _ownersProof(order, TYPED);
            bytes32 id = order.orderId();
            order.inputAmount *= 2;
            bytes memory data = abi.encodeCall(IGeoPayer.pay, (id, termsOf(order), proof));
            _call(address(escrows[chain]), unword(order.wallet), data);
        }
        _end("openUnsigned");
    }

    function _openMany(uint256 chain, Opening[] memory items, uint256 gas) private returns (bool ok) {
        isOpening = true;
        vm.prank(stranger);
        (ok,) = address(escrows[chain]).call{gas: gas}(abi.encodeCall(IGeoEscrow.openMany, (items)));
        if (!ok) vm.getRecordedLogs();
    }

    function _honestItem(uint256 chain) private returns (Opening memory item) {
        Order memory order = _newOrder(chain, 1 - chain);
        uint256 kind = _rand(4);
        order.wallet = word(wallets[kind == 3 ? 0 : _rand(DELEGATED)]);
        if (kind == 0) {
            uint256 grant = _someGrant(chain);
            order = _agentsOrder(chain, grant);
            return _item(order, _agentsProof(order, grant));
        }
        item = _item(order, _ownersProof(order, kind == 3 ? PERSONAL : TYPED));
        address token = unword(order.inputToken);
        // Nothing keeps these from being paid.
        if (token == NATIVE || token == address(plain) || token == address(noReturn)) _sure.push(order.orderId());
    }

    function _hostileItem(uint256 chain, Opening[] memory items, uint256 count) private returns (Opening memory item) {
        Order memory order = _newOrder(chain, 1 - chain);
        uint256 kind = _rand(9);
        if (kind < 6) {
            order.wallet = word(address(burner));
            item = _item(order, abi.encodePacked(CodedWallet.Way(1 + kind)));
            return CodedWallet.Way(1 + kind) == CodedWallet.Way.Strike ? _strikingItem(chain, items, count) : item;
        }
        order.wallet = word(wallets[_rand(DELEGATED)]);
        if (kind == 6) {
            order.inputToken = word(address(plain));
            order.inputAmount = 1e33;
            return _item(order, _ownersProof(order, TYPED));
        }
        if (kind == 7) return _item(order, _signed(TYPED, _strangersKey(), _orderDigest(order)));
        // An item of the same batch once more, or a wallet without code.
        if (count != 0 && _oneIn(2)) return items[_rand(count)];
        order.wallet = word(stranger);
        return _item(order, "");
    }

    /// @dev A wallet that pays by opening a second order, or calls everything that could move money or mislead.
    function _strikingItem(uint256 chain, Opening[] memory items, uint256 count) private returns (Opening memory item) {
        address escrow = address(escrows[chain]);
        Order memory outer = _newOrder(chain, 1 - chain);
        Order memory inner = _newOrder(chain, 1 - chain);
        (outer.wallet, inner.wallet) = (word(address(burner)), word(address(burner)));
        outer.inputToken = inner.inputToken = word(_oneIn(2) ? NATIVE : address(plain));
        inner.inputAmount = outer.inputAmount;
        Opening memory nested = _item(inner, abi.encodePacked(CodedWallet.Way.Honest));
        // An honest order of this very batch would be reported as not opened.
        Opening memory other = count == 0 ? nested : items[0];
        Opening[] memory others = new Opening[](1);
        others[0] = Opening({wallet: other.wallet, gas: 10_000, terms: other.terms, proof: other.proof});
        Intruder.Call[] memory calls = new Intruder.Call[](4);
        calls[0] = Intruder.Call(escrow, 0, abi.encodeCall(IGeoEscrow.openMany, (others)));
        calls[1] =
            Intruder.Call(escrow, 0, abi.encodeCall(IGeoEscrow.openFor, (nested.wallet, nested.terms, nested.proof)));
        calls[2] =
            Intruder.Call(escrow, 0, abi.encodeCall(IGeoEscrow.claim, (unword(outer.inputToken), address(burner))));
        calls[3] = Intruder.Call(escrow, 0, abi.encodeCall(IGeoEscrow.refund, (_some())));
        burner.arm(calls);
        CodedWallet.Way way = _oneIn(2) ? CodedWallet.Way.Strike : CodedWallet.Way.StrikeAndPay;
        item = _item(outer, abi.encodePacked(way));
        item.gas = 5_000_000;
    }

    function _item(Order memory order, bytes memory proof) private returns (Opening memory) {
        _register(order, true);
        _keep(order, proof);
        return Opening({wallet: unword(order.wallet), gas: ITEM_GAS, terms: termsOf(order), proof: proof});
    }

    function _checkSure() private {
        for (uint256 i = 0; i < _sure.length; ++i) {
            _check(entries[_sure[i]].escrow != EscrowState.None, "batch: an honest order was not opened");
        }
    }

    /// @dev The same proof again, on its own chain, on the other one, or in the other escrow.
    function _replay(uint256 kind) private {
        Order memory order = _some();
        uint256 chain = _chainOf(order.originChainId);
        bytes memory proof = proofs[order.orderId()];
        if (kind == 1) order.originChainId = _chainId(1 - chain);
        if (kind != 0) order.escrow = word(address(escrows[1 - chain]));
        if (kind != 0) _register(order, false);
        _goTo(_chainOf(order.originChainId));
        isOpening = true;
        bytes memory data = abi.encodeCall(IGeoEscrow.openFor, (unword(order.wallet), termsOf(order), proof));
        _call(stranger, unword(order.escrow), data);
        _end("replay");
    }

    function _revoke(address wallet) private {
        revoker = wallet;
        bytes32 structHash = keccak256(abi.encode(REVOKE_TYPEHASH, wallet, epochs[wallet]));
        uint256 chain = _chainOf(vm.getChainId());
        bytes memory proof = _signed(TYPED, _walletKey(wallet), _digest(chain, structHash));
        bool byItself = _oneIn(2);
        _call(
            byItself ? wallet : stranger,
            wallet,
            abi.encodeCall(IGeoAccount.revokeMandates, (byItself ? bytes("") : proof))
        );
        _end("revoke", IGeoAccount.MandatesRevoked.selector);
        revoker = address(0);
    }

    /// @dev By a third party, or with the signature of the epoch before.
    function _revokeWrongly(address wallet) private {
        bool isOld = epochs[wallet] != 0 && _oneIn(2);
        bytes32 structHash = keccak256(abi.encode(REVOKE_TYPEHASH, wallet, epochs[wallet] - (isOld ? 1 : 0)));
        bytes32 digest = _digest(_chainOf(vm.getChainId()), structHash);
        bytes memory proof = _signed(TYPED, isOld ? _walletKey(wallet) : _strangersKey(), digest);
        _call(stranger, wallet, abi.encodeCall(IGeoAccount.revokeMandates, (proof)));
    }

    /// @dev The mandate expires, and then an order within it is offered.
    function _later(uint256 chain, uint256 grant, uint256 expiry) private returns (Order memory) {
        if (expiry > vm.getBlockTimestamp() && expiry < vm.getBlockTimestamp() + 5 minutes) vm.warp(expiry + _rand(2));
        return _agentsOrder(chain, grant);
    }

    /// @dev An earlier mandate, live or not.
    function _older(uint256 chain) private returns (uint256 grant, Order memory order) {
        grant = _rand(grants.length);
        order = _agentsOrder(chain, grant);
        order.originVault = word(_grantOf(grant).originVault);
    }

    /// @dev A mandate that names another wallet than the one whose owner signed it.
    function _misnamed(uint256 chain, Mandate memory mandate) private returns (uint256) {
        uint256 key = _walletKey(mandate.wallet);
        mandate.wallet = mandate.wallet == wallets[0] ? wallets[1] : wallets[0];
        return _grant(chain, mandate, key);
    }

    /// @dev A mandate that a third party signed for itself.
    function _forgedProof(uint256 chain, Mandate memory mandate, Order memory order) private returns (bytes memory) {
        mandate.agent = vm.addr(_strangersKey());
        uint256 grant = _grant(chain, mandate, _strangersKey());
        bytes memory data = grants[grant].data;
        grants.pop();
        return bytes.concat(_signed(TYPED, _strangersKey(), _orderDigest(order)), data);
    }

    function _endLeaving() private {
        ++effects["agentLeavesItsMandate"];
    }
}
