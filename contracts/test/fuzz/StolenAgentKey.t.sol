// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {InputCap, Mandate, OutputToken} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {IGeoPayer} from "../../src/interfaces/IGeoPayer.sol";
import {Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {packDeadlines, termsOf, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Wallets} from "../base/Wallets.sol";

/// @dev A thief has the agent's key and all mandates, on two chains. The wallet's contracts have the same addresses on
/// both, so that only the chain's id differs, and the wallet's epoch is the same on both.
contract StolenAgentKeyTest is Wallets {
    enum Attempt {
        Within,
        TwoAtOnce,
        Replay,
        OtherVault,
        OtherAttesters,
        OtherRecipient,
        OtherInput,
        OtherOutput,
        OtherDestinationVaultHere,
        WalletOnSolana,
        MandateOfTheOtherChain,
        MandateThatJustExpired,
        MandateOfAnotherEpoch,
        MandateWithAHigherCap,
        MandateOfItsOwnMaking,
        RevokedInTheSameBlock,
        WithoutCode,
        Redelegated,
        PaidToItself
    }

    /// @dev What moved under one mandate, of one chain and token. `level` is what counts as used times the period.
    struct Book {
        uint256 cap;
        uint256 moved;
        uint256 level;
        uint256 firstAt;
        uint256 lastAt;
        uint256 locked;
    }

    struct Opened {
        bytes32 book;
        Order order;
    }

    uint256 private constant ATTEMPTS = 1200;
    uint256 private constant KINDS = 19;
    uint32 private constant PERIOD = 1 hours;
    uint256 private constant LOCK = 3 days;
    uint128 private constant TOKEN_CAP = 1000e6;
    uint128 private constant NATIVE_CAP = 1 ether;

    mapping(bytes32 => Book) private books;
    mapping(Attempt => uint256) private tried;
    Opened[] private opened;
    uint256 private nextRefund;
    uint256 private successes;
    uint256 private issuedAt = NOW;
    uint256 private time = NOW;
    uint256 private attempts;
    bytes private lastCall;
    /// @dev The highest sums that one mandate has had locked in open orders, and has moved, in percent of its cap.
    uint256 private maxLocked;
    uint256 private maxMoved;

    /// forge-config: default.fuzz.runs = 2
    function testFuzz_aStolenAgentKeyMovesAtMostTheCapAndItsShareOfTimeAndStealsNothing(uint256 seed) public {
        uint256 wealth = plain.balanceOf(wallet);
        uint256 nativeWealth = wallet.balance;
        for (uint256 i = 0; i < ATTEMPTS; ++i) {
            // In a separate call, so that the memory of one attempt does not make the next one expensive.
            this.attempt(uint256(keccak256(abi.encode(seed, i))));
        }
        for (uint256 kind = 0; kind < KINDS; ++kind) {
            vm.assertLe(1, tried[Attempt(kind)], "an attempt was never made");
        }
        vm.assertLe(100, successes, "successes");
        emit log_named_uint("attempts", attempts);
        emit log_named_uint("orders that opened", successes);
        emit log_named_uint("locked at most under one mandate, in percent of its cap", maxLocked);
        emit log_named_uint("moved at most under one mandate, in percent of its cap", maxMoved);

        // Nothing was delivered, so everything comes back, and nothing went anywhere else.
        _passTime(LOCK);
        vm.assertEq(plain.balanceOf(wallet), wealth, "the wallet's token");
        vm.assertEq(wallet.balance, nativeWealth, "the wallet's native token");
        vm.assertEq(other.balanceOf(wallet), 1e24, "a token without a mandate");
    }

    /// @dev The bound is reached. With a short period, an agent locks many times its cap until the first refund.
    function test_aThiefThatUsesEachPeriodLocksTheCapOnceAndOnceMoreForEachPeriodUntilARefund() public {
        uint256 wealth = plain.balanceOf(wallet);
        for (uint256 i = 0; i <= LOCK / PERIOD; ++i) {
            time = NOW + i * PERIOD;
            vm.warp(time);
            _strike(_issued(HERE), _whole());
        }
        uint256 held = plain.balanceOf(address(escrow));
        emit log_named_uint("locked until the first refund, in percent of the cap", held * 100 / TOKEN_CAP);
        vm.assertEq(held, TOKEN_CAP * (1 + LOCK / PERIOD), "locked");
        _passTime(LOCK);
        vm.assertEq(plain.balanceOf(wallet), wealth, "refunded");
    }

    function attempt(uint256 random) external {
        _passTime(_delay(random % 8, random >> 8));
        if (time >= issuedAt + 2 days) issuedAt = time;
        uint256 chain = (random >> 16) % 2 == 0 ? HERE : THERE;
        vm.chainId(chain);
        // Half of all attempts are within what the mandate allows but for their amount.
        uint256 choice = (random >> 24) % (2 * KINDS);
        Attempt kind = choice < KINDS ? Attempt(choice) : Attempt(choice % 2);
        _attempt(kind, chain, random >> 64);
    }

    function _attempt(Attempt kind, uint256 chain, uint256 random) private {
        ++tried[kind];
        Mandate memory mandate = _issued(chain);
        Order memory order = _wanted(chain, mandate, random);
        if (kind == Attempt.Within) return _strike(mandate, order);
        if (kind == Attempt.TwoAtOnce) return _strikeTwice(mandate, order);
        if (kind == Attempt.Replay) return _fails(lastCall);
        if (kind == Attempt.Redelegated) {
            _delegate(wallet, random % 2 == 0 ? account : typedOnly);
            return _strike(mandate, order);
        }
        // Within the cap, so that nothing but the attempt itself is to blame.
        order.inputAmount = 1;
        if (kind == Attempt.PaidToItself) {
            bytes memory proof = _agentProof(mandate, order);
            return _calls(wallet, abi.encodeCall(IGeoPayer.pay, (order.orderId(), termsOf(order), proof)), false);
        }
        if (kind == Attempt.RevokedInTheSameBlock) {
            bytes32 digest = _typedDigest(address(escrow), _revokeHash(wallet, _mine().mandateEpoch()));
            _mine().revokeMandates(_proofOf(TYPED, KEY, digest));
        }
        _changeOrder(kind, chain, order);
        if (kind == Attempt.WithoutCode) vm.etch(wallet, "");
        _fails(abi.encodeCall(escrow.openFor, (wallet, termsOf(order), _stolenProof(kind, chain, mandate, order))));
        if (kind == Attempt.WithoutCode) _delegate(wallet, account);
    }

    function _changeOrder(Attempt kind, uint256 chain, Order memory order) private view {
        if (kind == Attempt.OtherVault) order.originVault = word(agent);
        if (kind == Attempt.OtherAttesters) order.attesterSet = keccak256("the thief's own");
        if (kind == Attempt.OtherRecipient) order.recipient = word(agent);
        if (kind == Attempt.OtherInput) order.inputToken = word(address(other));
        if (kind == Attempt.OtherOutput) order.outputToken = word(address(hook));
        if (kind == Attempt.OtherDestinationVaultHere) {
            (order.destinationChainId, order.destinationVault) = (chain, word(agent));
        }
        if (kind == Attempt.WalletOnSolana) order.destinationChainId = SOLANA;
    }

    function _stolenProof(Attempt kind, uint256 chain, Mandate memory mandate, Order memory order)
        private
        returns (bytes memory)
    {
        uint256 ownerKey = kind == Attempt.MandateOfItsOwnMaking ? AGENT_KEY : KEY;
        if (kind == Attempt.MandateThatJustExpired) mandate.expiry = uint64(time);
        if (kind == Attempt.MandateOfAnotherEpoch) mandate.epoch += 1;
        if (kind == Attempt.MandateOfTheOtherChain) vm.chainId(chain == HERE ? THERE : HERE);
        bytes memory signature = _sign(ownerKey, _typedDigest(address(escrow), _mandateHash(mandate)));
        vm.chainId(chain);
        if (kind == Attempt.MandateWithAHigherCap) mandate.inputs[0].maxAmount *= 2;
        return bytes.concat(_proof(TYPED, AGENT_KEY, order), abi.encode(mandate, signature));
    }

    function _strike(Mandate memory mandate, Order memory order) private {
        bytes memory data = abi.encodeCall(escrow.openFor, (wallet, termsOf(order), _agentProof(mandate, order)));
        ++attempts;
        (bool ok,) = address(escrow).call(data);
        vm.assertTrue(ok == _isOpen(order), "state");
        if (!ok) return;
        lastCall = data;
        _enter(mandate, order);
    }

    function _strikeTwice(Mandate memory mandate, Order memory order) private {
        Order memory second = _copy(order);
        Opening[] memory openings = new Opening[](2);
        openings[0] = _opening(order, 500_000, _agentProof(mandate, order));
        openings[1] = _opening(second, 500_000, _agentProof(mandate, second));
        attempts += 2;
        escrow.openMany(openings);
        if (_isOpen(order)) _enter(mandate, order);
        if (_isOpen(second)) _enter(mandate, second);
    }

    /// @dev Books an order that opened, and checks the mandate's limit over every window of time up to now.
    function _enter(Mandate memory mandate, Order memory order) private {
        bytes32 id = keccak256(abi.encode(_mandateHash(mandate), order.originChainId, order.inputToken));
        Book storage book = books[id];
        if (book.cap == 0) {
            book.cap = order.inputToken == 0 ? NATIVE_CAP : TOKEN_CAP;
            (book.firstAt, book.lastAt) = (time, time);
        }
        uint256 drained = book.cap * (time - book.lastAt);
        book.level = (book.level > drained ? book.level - drained : 0) + order.inputAmount * PERIOD;
        book.lastAt = time;
        book.moved += order.inputAmount;
        book.locked += order.inputAmount;
        vm.assertLe(book.level, book.cap * PERIOD, "more than the cap in some window");
        vm.assertLe(book.moved * PERIOD, book.cap * (PERIOD + time - book.firstAt), "more than the cap in all");
        vm.assertLe(book.locked * PERIOD, book.cap * (PERIOD + LOCK), "locked");
        if (book.locked * 100 / book.cap > maxLocked) maxLocked = book.locked * 100 / book.cap;
        if (book.moved * 100 / book.cap > maxMoved) maxMoved = book.moved * 100 / book.cap;
        opened.push(Opened(id, order));
        ++successes;
    }

    /// @dev Refunds what may be refunded by then.
    function _passTime(uint256 delay) private {
        time += delay;
        vm.warp(time);
        while (nextRefund < opened.length && opened[nextRefund].order.deadlines.refundAfter() <= time) {
            Opened memory item = opened[nextRefund];
            escrow.refund(item.order);
            books[item.book].locked -= item.order.inputAmount;
            ++nextRefund;
        }
    }

    function _fails(bytes memory data) private {
        if (data.length != 0) _calls(address(escrow), data, false);
    }

    function _calls(address target, bytes memory data, bool expected) private {
        ++attempts;
        uint256 before = plain.balanceOf(wallet) + wallet.balance + other.balanceOf(wallet);
        vm.prank(agent);
        (bool ok,) = target.call(data);
        vm.assertTrue(ok == expected, "a forbidden attempt succeeded");
        vm.assertEq(plain.balanceOf(wallet) + wallet.balance + other.balanceOf(wallet), before, "moved");
    }

    function _delay(uint256 choice, uint256 random) private pure returns (uint256) {
        return [0, 0, 1, random % 600, PERIOD / 2, PERIOD - 1, PERIOD, PERIOD + 1][choice];
    }

    /// @dev The mandate that the owner has signed for a chain. There is a new one every two days, and after each
    /// revocation.
    function _issued(uint256 chain) private view returns (Mandate memory mandate) {
        mandate = _mandate();
        mandate.epoch = _mine().mandateEpoch();
        // Unlike that of the other chain, whose usage would otherwise be in the same slot here.
        mandate.expiry = uint64(issuedAt + 5 days + chain);
        mandate.period = PERIOD;
        mandate.inputs = new InputCap[](2);
        mandate.inputs[0] = InputCap(address(plain), TOKEN_CAP);
        mandate.inputs[1] = InputCap(NATIVE, NATIVE_CAP);
        mandate.outputs = new OutputToken[](3);
        mandate.outputs[0] = OutputToken(HERE, word(address(other)));
        mandate.outputs[1] = OutputToken(THERE, word(address(other)));
        mandate.outputs[2] = OutputToken(SOLANA, word(address(other)));
    }

    /// @dev An order that the mandate allows if its cap does, of an amount at the edge of what the cap leaves.
    function _wanted(uint256 chain, Mandate memory mandate, uint256 random) private view returns (Order memory order) {
        order = _agentOrder(1);
        order.originChainId = chain;
        order.destinationChainId = chain == HERE ? THERE : HERE;
        if (random % 3 == 0) order.inputToken = 0;
        order.swapKey = bytes32(random);
        order.deadlines = packDeadlines(time + 300, time + 1000, time + LOCK);
        Book storage book = books[keccak256(abi.encode(_mandateHash(mandate), chain, order.inputToken))];
        uint256 cap = order.inputToken == 0 ? NATIVE_CAP : TOKEN_CAP;
        uint256 drained = cap * (time - book.lastAt);
        uint256 used = book.level > drained ? (book.level - drained + PERIOD - 1) / PERIOD : 0;
        uint256[5] memory amounts = [cap - used, cap - used + 1, cap, cap + 1, (random >> 64) % cap];
        order.inputAmount = amounts[(random >> 8) % 5];
        if (order.inputAmount == 0) order.inputAmount = 1;
    }

    function _whole() private view returns (Order memory order) {
        order = _agentOrder(TOKEN_CAP);
        order.swapKey = bytes32(time);
        order.deadlines = packDeadlines(time + 300, time + 1000, time + LOCK);
    }

    function _copy(Order memory order) private pure returns (Order memory copy) {
        copy = abi.decode(abi.encode(order), (Order));
        copy.swapKey = ~order.swapKey;
    }
}
