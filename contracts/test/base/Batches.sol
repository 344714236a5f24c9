// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {IGeoEscrow, Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {HostileWallet} from "../mocks/HostileWallet.sol";
import {termsOf, unword, word} from "./orders.sol";
import {vm} from "./Vm.sol";
import {Wallets} from "./Wallets.sol";

/// @dev Batches of orders, each of a separate wallet. Some of the wallets are hostile.
abstract contract Batches is Wallets {
    enum Kind {
        Honest,
        NoMoney,
        MovedAway,
        WrongSignature,
        NoProof,
        NoCode,
        AToken,
        TwiceInTheBatch,
        BurnsGas,
        PaysAndBurnsGas,
        InvalidOpcode,
        ReEnters,
        FloodsRevertData,
        FloodsReturnData,
        PaysTooLittle,
        PaysTooMuch
    }

    uint256 internal constant KINDS = 16;
    uint256 internal constant SIZE = 10;
    uint256 internal constant ITEM_GAS = 200_000;

    /// @dev The gas of a batch is `BASE_GAS` and for each item 64/63 of its own, `ITEM_OVERHEAD` and one for each byte
    /// of its proof. What the transaction itself costs, 21,000 and its data, comes on top.
    uint256 internal constant BASE_GAS = 1_000;
    uint256 internal constant ITEM_OVERHEAD = 5_000;

    address private hostileCode;
    uint256 private lastSwapKey;

    function setUp() public virtual override {
        super.setUp();
        hostileCode = address(new HostileWallet());
        for (uint256 i = 0; i < SIZE; ++i) {
            _delegate(_owner(i), account);
            plain.mint(_owner(i), 1e15);
        }
        for (uint256 kind = 0; kind < KINDS; ++kind) {
            HostileWallet hostile = HostileWallet(payable(_hostile(Kind(kind))));
            plain.mint(address(hostile), 1e15);
            _delegate(address(hostile), hostileCode);
        }
        // The escrow has had every token before, as it has on any day but its first.
        plain.mint(address(escrow), 1);
    }

    function _limit(Opening[] memory openings) internal pure returns (uint256 limit) {
        limit = BASE_GAS;
        for (uint256 i = 0; i < openings.length; ++i) {
            limit += openings[i].gas * 64 / 63 + ITEM_OVERHEAD + openings[i].proof.length;
        }
    }

    function _key(uint256 i) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode("owner", i)));
    }

    function _owner(uint256 i) internal pure returns (address) {
        return vm.addr(_key(i));
    }

    function _hostile(Kind kind) internal pure returns (address) {
        return vm.addr(uint256(keccak256(abi.encode("hostile", kind))));
    }

    function _orderOf(address owner) internal returns (Order memory order) {
        order = _order();
        order.wallet = word(owner);
        order.inputAmount = 10e6;
        order.swapKey = bytes32(++lastSwapKey);
    }

    function _honest(uint256 i) internal returns (Order memory order, bytes memory proof) {
        order = _orderOf(_owner(i));
        proof = _proof(i % 2 == 0 ? TYPED : PERSONAL, _key(i), order);
    }

    /// @dev An order of this kind, and what is handed over as its proof.
    function _hostileOrder(Kind kind, Order memory honest) internal returns (Order memory order, bytes memory proof) {
        uint256 key = uint256(keccak256(abi.encode("hostile", kind)));
        address owner = _hostile(kind);
        order = _orderOf(owner);
        if (kind == Kind.TwiceInTheBatch) order = honest;
        if (kind == Kind.AToken) order.wallet = word(address(plain));
        if (kind <= Kind.NoProof) _delegate(owner, account);
        if (kind == Kind.NoCode) vm.etch(owner, "");
        // The two with a good signature and no money. One never had any, the other moves it after it has signed.
        if (kind == Kind.NoMoney) order.inputAmount = plain.balanceOf(owner) + 1;
        proof = _proof(TYPED, kind == Kind.WrongSignature ? key + 1 : key, order);
        if (kind == Kind.MovedAway) {
            uint256 balance = plain.balanceOf(owner);
            vm.prank(owner);
            plain.transfer(stranger, balance);
        }
        if (kind == Kind.NoProof) proof = "";
        if (kind >= Kind.BurnsGas) _arm(HostileWallet(payable(owner)), kind, honest);
    }

    function _arm(HostileWallet hostile, Kind kind, Order memory honest) private {
        HostileWallet.Mode mode = HostileWallet.Mode.PayTooMuch;
        if (kind == Kind.BurnsGas) mode = HostileWallet.Mode.BurnGas;
        if (kind == Kind.PaysAndBurnsGas) mode = HostileWallet.Mode.BurnGasAndPay;
        if (kind == Kind.InvalidOpcode) mode = HostileWallet.Mode.InvalidOpcode;
        if (kind == Kind.ReEnters) mode = HostileWallet.Mode.CallAndPay;
        if (kind == Kind.FloodsRevertData) mode = HostileWallet.Mode.RevertWithAFlood;
        if (kind == Kind.FloodsReturnData) mode = HostileWallet.Mode.ReturnAFlood;
        if (kind == Kind.PaysTooLittle) mode = HostileWallet.Mode.PayTooLittle;
        hostile.arm(mode, _reEntry(honest));
    }

    /// @dev Reports the honest order as not opened, and refunds it.
    function _reEntry(Order memory honest) private view returns (HostileWallet.Call[] memory calls) {
        Opening[] memory openings = new Opening[](1);
        openings[0] = _opening(honest, 0, "");
        calls = new HostileWallet.Call[](2);
        calls[0] = HostileWallet.Call(address(escrow), 0, abi.encodeCall(IGeoEscrow.openMany, (openings)));
        calls[1] = HostileWallet.Call(address(escrow), 0, abi.encodeCall(IGeoEscrow.refund, (honest)));
    }

    /// @dev Ten orders of which `hostileCount` are of a hostile kind, at places that differ by kind and count.
    function _batch(Kind kind, uint256 hostileCount)
        internal
        returns (Order[] memory orders, Opening[] memory openings, bool[] memory isHonest)
    {
        orders = new Order[](SIZE);
        openings = new Opening[](SIZE);
        isHonest = new bool[](SIZE);
        Order memory honest;
        bytes memory proof;
        for (uint256 i = 0; i < SIZE; ++i) {
            isHonest[i] = (i * 7 + uint256(kind) + hostileCount) % SIZE >= hostileCount;
            if (!isHonest[i]) continue;
            (orders[i], proof) = _honest(i);
            honest = orders[i];
            openings[i] = _opening(orders[i], ITEM_GAS, proof);
        }
        for (uint256 i = 0; i < SIZE; ++i) {
            if (isHonest[i]) continue;
            (orders[i], proof) = _hostileOrder(kind, honest);
            openings[i] = _opening(orders[i], _itemGas(kind), proof);
        }
    }

    /// @dev A wallet that calls back and still pays needs more gas than others. It gets that much, to check that it
    /// gains nothing.
    function _itemGas(Kind kind) internal pure returns (uint256) {
        return kind == Kind.ReEnters ? 3 * ITEM_GAS : ITEM_GAS;
    }

    /// @dev Sends a batch as a transaction would, with cold accounts, and returns the gas that it used.
    function _send(Opening[] memory openings, uint256 limit) internal returns (bool ok, uint256 used) {
        (ok, used,) = _sendEncoded(openings, abi.encodeCall(IGeoEscrow.openMany, (openings)), limit);
    }

    /// @dev The same for a batch that was encoded before. Returns the selector of the error as well, if there is one.
    function _sendEncoded(Opening[] memory openings, bytes memory data, uint256 limit)
        internal
        returns (bool ok, uint256 used, bytes4 reason)
    {
        vm.cool(address(escrow));
        vm.cool(address(plain));
        for (uint256 i = 0; i < openings.length; ++i) {
            vm.cool(openings[i].wallet);
        }
        used = gasleft();
        bytes memory answer;
        (ok, answer) = address(escrow).call{gas: limit}(data);
        used -= gasleft();
        reason = bytes4(answer);
    }
}
