// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Order} from "../../src/Order.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {EscrowState, IGeoEscrow, Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {Batches} from "../base/Batches.sol";
import {termsOf, unword, word} from "../base/orders.sol";
import {Vm, vm} from "../base/Vm.sol";
import {HostileWallet} from "../mocks/HostileWallet.sol";
import {Token} from "../mocks/Token.sol";

contract GeoEscrowOpenManyTest is Batches {
    function test_aBatchOpensEachOfItsOrders() public {
        (Order[] memory orders, Opening[] memory openings,) = _batch(Kind.Honest, 0);
        for (uint256 i = 0; i < orders.length; ++i) {
            vm.expectEmit(address(escrow));
            emit IGeoEscrow.Opened(orders[i].orderId(), unword(orders[i].wallet), termsOf(orders[i]));
        }
        vm.prank(stranger);
        escrow.openMany(openings);
        _isAllOpen(orders);
        vm.assertEq(plain.balanceOf(address(escrow)), 1 + SIZE * 10e6, "held");
    }

    function test_anEmptyBatchOpensNothing() public {
        vm.recordLogs();
        escrow.openMany(new Opening[](0));
        vm.assertEq(vm.getRecordedLogs().length, 0, "events");
    }

    function test_anOrderThatDoesNotOpenIsReportedWithItsReason() public {
        Kind[7] memory kinds = [
            Kind.NoMoney,
            Kind.MovedAway,
            Kind.WrongSignature,
            Kind.NoProof,
            Kind.BurnsGas,
            Kind.PaysTooLittle,
            Kind.TwiceInTheBatch
        ];
        bytes4[7] memory reasons = [
            Token.InsufficientBalance.selector,
            Token.InsufficientBalance.selector,
            IGeoAccount.WrongSigner.selector,
            IGeoAccount.InvalidProof.selector,
            bytes4(0),
            IGeoEscrow.WrongAmount.selector,
            IGeoEscrow.AlreadyOpened.selector
        ];
        (Order memory honest, bytes memory proof) = _honest(0);
        _openFor(honest, proof);
        for (uint256 i = 0; i < kinds.length; ++i) {
            Order memory order;
            (order, proof) = _hostileOrder(kinds[i], honest);
            Opening[] memory openings = new Opening[](1);
            openings[0] = _opening(order, ITEM_GAS, proof);
            vm.expectEmit(address(escrow));
            emit IGeoEscrow.NotOpened(order.orderId(), reasons[i]);
            escrow.openMany(openings);
        }
    }

    /// @dev Fewer than four bytes are no selector.
    function test_aReasonOfAByteIsReportedAsNone() public {
        HostileWallet hostile = HostileWallet(payable(_hostile(Kind.BurnsGas)));
        hostile.setMode(HostileWallet.Mode.RevertWithAByte);
        Order memory order = _orderOf(address(hostile));
        Opening[] memory openings = new Opening[](1);
        openings[0] = _opening(order, ITEM_GAS, "");
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.NotOpened(order.orderId(), bytes4(0));
        escrow.openMany(openings);
    }

    function test_oneToNineHostileOrdersOfAnyKindSpoilNoneOfTheOthers() public {
        for (uint256 kind = 1; kind < KINDS; ++kind) {
            for (uint256 hostileCount = 1; hostileCount < SIZE; ++hostileCount) {
                // In a separate call, so that the memory of one batch does not make the next one expensive.
                this.sendBatch(Kind(kind), hostileCount);
            }
        }
    }

    function sendBatch(Kind kind, uint256 hostileCount) external {
        (Order[] memory orders, Opening[] memory openings, bool[] memory isHonest) = _batch(kind, hostileCount);
        uint256 before = plain.balanceOf(address(escrow));
        (bool ok,) = _send(openings, _limit(openings));
        vm.assertTrue(ok, "the whole batch reverted");
        uint256 opened;
        for (uint256 i = 0; i < orders.length; ++i) {
            bool isOpen = _isOpen(orders[i]);
            vm.assertTrue(isOpen || !isHonest[i], "an honest order did not open");
            // It is the honest order itself, which opened once.
            if (kind == Kind.TwiceInTheBatch && !isHonest[i]) continue;
            // These pay what they owe, and do other things besides.
            bool pays = kind == Kind.ReEnters || kind == Kind.FloodsReturnData;
            vm.assertTrue(isHonest[i] || isOpen == pays, "a hostile order");
            if (isOpen) ++opened;
        }
        vm.assertEq(plain.balanceOf(address(escrow)) - before, opened * 10e6, "held");
        if (kind == Kind.ReEnters) {
            vm.assertEq(HostileWallet(payable(_hostile(kind))).successes(), 0, "got in");
        }
    }

    /// @dev What the sender pays for one hostile order among nine honest ones, without the transaction's data.
    function test_aHostileOrderCostsItsSenderNoMoreThanItsOwnGasAndTheOverhead() public {
        string[16] memory names = [
            "an honest order",
            "no money",
            "money moved away",
            "wrong signature",
            "no proof",
            "no code",
            "a token as wallet",
            "twice in the batch",
            "burns gas",
            "pays and burns gas",
            "invalid opcode",
            "re-enters and pays",
            "floods revert data",
            "floods return data",
            "pays too little",
            "pays too much"
        ];
        this.gasOfBatch(Kind.Honest, SIZE);
        uint256 nine = this.gasOfBatch(Kind.Honest, SIZE - 1);
        for (uint256 kind = 0; kind < KINDS; ++kind) {
            uint256 cost = this.gasOfBatch(Kind(kind), SIZE) - nine;
            emit log_named_uint(names[kind], cost);
            bool burns = kind >= uint256(Kind.BurnsGas) && kind <= uint256(Kind.FloodsReturnData);
            // An order that pays the wrong amount costs the most, because the token of these tests writes two slots
            // more than most tokens do.
            vm.assertLe(cost, burns ? _itemGas(Kind(kind)) + ITEM_OVERHEAD : 90_000, names[kind]);
            if (kind != 0 && kind < uint256(Kind.BurnsGas)) vm.assertLe(cost, 25_000, names[kind]);
        }
    }

    /// @dev The last place is the hostile order's, or empty if there are only nine.
    function gasOfBatch(Kind kind, uint256 size) external returns (uint256 used) {
        Opening[] memory openings = new Opening[](size);
        Order memory order;
        bytes memory proof;
        for (uint256 i = 0; i < size; ++i) {
            Order memory honest = order;
            (order, proof) = i == SIZE - 1 && kind != Kind.Honest ? _hostileOrder(kind, honest) : _honest(i);
            openings[i] = _opening(order, _itemGas(kind), proof);
        }
        bool ok;
        (ok, used) = _send(openings, _limit(openings));
        vm.assertTrue(ok, "reverted");
    }

    function test_withTooLittleGasForAnItemTheWholeBatchRevertsAndOpensNothing() public {
        (Order[] memory orders, Opening[] memory openings,) = _batch(Kind.Honest, 0);
        // The last item needs more gas than is left when the nine before it are open.
        openings[SIZE - 1].gas = 5_000_000;
        vm.expectRevert(IGeoEscrow.InsufficientGas.selector);
        escrow.openMany{gas: 4_000_000}(openings);
        _isNoneOpen(orders);
        // The first needs more gas than there is.
        openings[0].gas = 3_990_000;
        vm.expectRevert(IGeoEscrow.InsufficientGas.selector);
        escrow.openMany{gas: 4_000_000}(openings);
        _isNoneOpen(orders);
    }

    function test_oneUnitOfGasLessThanABatchNeedsRevertsItWhole() public {
        (Order[] memory orders, Opening[] memory openings,) = _batch(Kind.Honest, 0);
        bytes memory data = abi.encodeCall(IGeoEscrow.openMany, (openings));
        uint256 limit = _minGas(openings);
        vm.assertLe(limit, _limit(openings), "limit");
        (bool ok,, bytes4 reason) = _sendEncoded(openings, data, limit - 1);
        vm.assertTrue(!ok && reason == IGeoEscrow.InsufficientGas.selector, "reverted for another reason");
        _isNoneOpen(orders);
        (ok,,) = _sendEncoded(openings, data, limit);
        _isAllOpen(orders);
    }

    function test_anItemWhoseGasIsTooLittleForItselfSpoilsNoOther() public {
        (Order[] memory orders, Opening[] memory openings,) = _batch(Kind.Honest, 0);
        for (uint256 i = 0; i < SIZE; i += 2) {
            openings[i].gas = i * 5_000;
        }
        escrow.openMany(openings);
        for (uint256 i = 0; i < SIZE; ++i) {
            vm.assertTrue(_isOpen(orders[i]) == (i % 2 == 1), "state");
        }
        // None of them is lost. They open with the gas that they need.
        for (uint256 i = 0; i < SIZE; ++i) {
            openings[i].gas = ITEM_GAS;
        }
        escrow.openMany(openings);
        _isAllOpen(orders);
    }

    /// @dev With any limit, no honest order is passed over for lack of gas.
    function testFuzz_anyGasLimitOpensAllHonestOrdersOrNone(uint256 limit, uint8 kind, uint8 hostileCount) public {
        (Order[] memory orders, Opening[] memory openings, bool[] memory isHonest) =
            _batch(Kind(1 + kind % (KINDS - 1)), hostileCount % SIZE);
        (bool ok,) = _send(openings, limit % (_limit(openings) + 1));
        for (uint256 i = 0; i < orders.length; ++i) {
            if (isHonest[i]) vm.assertTrue(_isOpen(orders[i]) == ok, "some opened");
        }
    }

    /// @dev The worst case. All items use up their gas, of any amount, and are reported.
    function testFuzz_theLimitOfABatchIsAlwaysEnough(uint256 seed) public {
        Opening[] memory openings = new Opening[](1 + seed % 16);
        for (uint256 i = 0; i < openings.length; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            Kind[3] memory kinds = [Kind.BurnsGas, Kind.PaysAndBurnsGas, Kind.NoMoney];
            (Order memory order, bytes memory proof) = _hostileOrder(kinds[seed % 3], _order());
            if (seed % 5 == 0) proof = bytes.concat(proof, new bytes(seed % 10_000));
            openings[i] = _opening(order, (seed >> 128) % 1_000_000, proof);
        }
        (bool ok,) = _send(openings, _limit(openings));
        vm.assertTrue(ok, "the limit was too low");
    }

    /// @dev Finds the overhead, which is the least gas for batches of one and of ten items that get no gas themselves.
    function test_theOverheadOfAnItemIsNoMoreThanTheLimitAllowsFor() public {
        uint256[4] memory lengths = [uint256(0), 66, 4_000, 100_000];
        for (uint256 i = 0; i < lengths.length; ++i) {
            uint256 one = _minGas(_worst(1, lengths[i]));
            uint256 ten = _minGas(_worst(SIZE, lengths[i]));
            uint256 overhead = (ten - one + SIZE - 2) / (SIZE - 1);
            emit log_named_uint("bytes of the proof", lengths[i]);
            emit log_named_uint("overhead of an item", overhead);
            emit log_named_uint("one item alone", one);
            vm.assertLe(overhead, ITEM_OVERHEAD + lengths[i], "overhead");
            vm.assertLe(one, BASE_GAS + ITEM_OVERHEAD + lengths[i], "base");
        }
    }

    /// @dev At the least gas with which the batch does not revert, its item still gets as much as it names.
    function test_anItemGetsAllItsGasOrTheBatchReverts() public {
        uint256[4] memory lengths = [uint256(0), 66, 4_000, 100_000];
        HostileWallet payer = HostileWallet(payable(_hostile(Kind.BurnsGas)));
        payer.setMode(HostileWallet.Mode.Pay);
        for (uint256 i = 0; i < lengths.length; ++i) {
            Opening[] memory openings = new Opening[](1);
            openings[0] = _opening(_orderOf(address(payer)), 2 * ITEM_GAS, new bytes(lengths[i]));
            uint256 limit = _minGas(openings);
            uint256 snapshot = vm.snapshotState();
            _send(openings, 10_000_000);
            uint256 ample = payer.gasAtPay();
            vm.revertToState(snapshot);
            _send(openings, limit);
            vm.assertEq(payer.gasAtPay(), ample, "gas");
            vm.assertLe(ITEM_GAS, ample, "ample");
        }
    }

    /// @dev The wallet is called to pay for its own order, and reports an honest one, which opens, as not opened.
    function test_aWalletThatPaysCannotReportAnotherOrderAsNotOpened() public {
        (Order memory honest, bytes memory proof) = _honest(0);
        Opening[] memory inner = new Opening[](1);
        inner[0] = _opening(honest, 0, "");
        HostileWallet hostile = HostileWallet(payable(_hostile(Kind.ReEnters)));
        HostileWallet.Call[] memory calls = new HostileWallet.Call[](1);
        calls[0] = HostileWallet.Call(address(escrow), 0, abi.encodeCall(IGeoEscrow.openMany, (inner)));
        hostile.arm(HostileWallet.Mode.CallAndPay, calls);

        Opening[] memory openings = new Opening[](2);
        openings[0] = _opening(_orderOf(address(hostile)), 1_000_000, "");
        openings[1] = _opening(honest, ITEM_GAS, proof);
        vm.recordLogs();
        escrow.openMany(openings);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            vm.assertTrue(logs[i].topics[0] != IGeoEscrow.NotOpened.selector, "reported");
        }
        vm.assertEq(
            bytes32(hostile.errors(0)),
            bytes32(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector),
            "for another reason"
        );
        vm.assertTrue(_isOpen(honest), "honest");
    }

    /// @dev Two wallets work together. While the first pays, it takes away what the second has signed for.
    function test_moneyThatMovesAwayWithinTheBatchSpoilsOnlyItsOwnOrder() public {
        HostileWallet hostile = HostileWallet(payable(_hostile(Kind.ReEnters)));
        address partner = _owner(1);
        uint256 balance = plain.balanceOf(partner);
        vm.prank(partner);
        plain.approve(address(hostile), balance);
        HostileWallet.Call[] memory calls = new HostileWallet.Call[](1);
        calls[0] = HostileWallet.Call(
            address(plain), 0, abi.encodeCall(Token.transferFrom, (partner, address(hostile), balance))
        );
        hostile.arm(HostileWallet.Mode.CallAndPay, calls);
        Opening[] memory openings = new Opening[](3);
        Order[] memory orders = new Order[](3);
        bytes memory proof;
        orders[0] = _orderOf(address(hostile));
        openings[0] = _opening(orders[0], ITEM_GAS, "");
        for (uint256 i = 1; i < 3; ++i) {
            (orders[i], proof) = _honest(i);
            openings[i] = _opening(orders[i], ITEM_GAS, proof);
        }
        escrow.openMany(openings);
        vm.assertEq(hostile.successes(), 1, "moved");
        vm.assertTrue(_isOpen(orders[0]) && !_isOpen(orders[1]) && _isOpen(orders[2]), "states");
    }

    function test_ordersOfOneWalletOpenTogetherAsFarAsItsMoneyGoes() public {
        Opening[] memory openings = new Opening[](4);
        Order[] memory orders = new Order[](4);
        for (uint256 i = 0; i < 4; ++i) {
            orders[i] = _orderOf(_owner(0));
            orders[i].inputAmount = 4e14;
            openings[i] = _opening(orders[i], ITEM_GAS, _proof(TYPED, _key(0), orders[i]));
        }
        escrow.openMany(openings);
        for (uint256 i = 0; i < 4; ++i) {
            vm.assertTrue(_isOpen(orders[i]) == (i < 2), "state");
        }
    }

    function test_nativeAndTokenOrdersOpenTogether() public {
        Opening[] memory openings = new Opening[](2);
        Order[] memory orders = new Order[](2);
        vm.deal(_owner(0), 10e6);
        for (uint256 i = 0; i < 2; ++i) {
            orders[i] = _orderOf(_owner(0));
            if (i == 0) orders[i].inputToken = 0;
            openings[i] = _opening(orders[i], ITEM_GAS, _proof(TYPED, _key(0), orders[i]));
        }
        escrow.openMany(openings);
        _isAllOpen(orders);
        vm.assertEq(address(escrow).balance, 10e6, "held");
    }

    function test_hostileTokensSpoilOnlyTheirOwnOrders() public {
        address[4] memory tokens = [address(fee), address(blocking), address(hook), address(new GasToken())];
        fee.setFee(1);
        blocking.setBlocked(address(escrow), true);
        hook.setHook(intruder);
        hook.setFee(1);
        Opening[] memory openings = new Opening[](8);
        Order[] memory orders = new Order[](8);
        for (uint256 i = 0; i < 8; ++i) {
            orders[i] = _orderOf(_owner(i));
            if (i % 2 == 0) orders[i].inputToken = word(tokens[i / 2]);
            Token(unword(orders[i].inputToken)).mint(_owner(i), 10e6);
            openings[i] = _opening(orders[i], ITEM_GAS, _proof(TYPED, _key(i), orders[i]));
        }
        escrow.openMany{gas: _limit(openings)}(openings);
        for (uint256 i = 0; i < 8; ++i) {
            vm.assertTrue(_isOpen(orders[i]) == (i % 2 == 1), "state");
        }
    }

    /// @dev `count` items without any gas, whose proofs have this length.
    function _worst(uint256 count, uint256 length) private returns (Opening[] memory openings) {
        openings = new Opening[](count);
        for (uint256 i = 0; i < count; ++i) {
            openings[i] = _opening(_orderOf(_owner(i)), 0, new bytes(length));
        }
    }

    /// @dev The least gas with which a batch does not revert. The state is left as it was.
    function _minGas(Opening[] memory openings) private returns (uint256 high) {
        uint256 low = 0;
        high = 5_000_000;
        bytes memory data = abi.encodeCall(IGeoEscrow.openMany, (openings));
        while (high - low > 1) {
            uint256 middle = (low + high) / 2;
            uint256 snapshot = vm.snapshotState();
            (bool ok,,) = _sendEncoded(openings, data, middle);
            vm.revertToState(snapshot);
            if (ok) high = middle;
            else low = middle;
        }
    }

    function _isAllOpen(Order[] memory orders) private view {
        for (uint256 i = 0; i < orders.length; ++i) {
            _isState(orders[i], EscrowState.Opened);
        }
    }

    function _isNoneOpen(Order[] memory orders) private view {
        for (uint256 i = 0; i < orders.length; ++i) {
            _isState(orders[i], EscrowState.None);
        }
    }
}

/// @dev Burns all gas whenever its balance is read.
contract GasToken {
    function mint(address, uint256) external {}

    function balanceOf(address) external pure returns (uint256) {
        while (true) {}
        return 0;
    }
}
