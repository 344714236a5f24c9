// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Deadlines, NotAnAddress, Order} from "../../src/Order.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {IGeoPayer} from "../../src/interfaces/IGeoPayer.sol";
import {EscrowState, IGeoEscrow, Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {packDeadlines, termsOf, typedHash, unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Wallets} from "../base/Wallets.sol";
import {BlockingToken} from "../mocks/HostileTokens.sol";
import {HostileWallet} from "../mocks/HostileWallet.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Token} from "../mocks/Token.sol";

contract GeoEscrowOpenForTest is Wallets {
    HostileWallet private hostile;

    function setUp() public override {
        super.setUp();
        hostile = HostileWallet(payable(_actor("hostile wallet")));
        _delegate(address(hostile), address(new HostileWallet()));
        plain.mint(address(hostile), 1e24);
        vm.deal(address(hostile), 1e24);
    }

    function test_aSignedOrderIsOpenedByAnyoneWithItsInputHeldWhole() public {
        Order memory order = _order();
        bytes memory proof = _proof(TYPED, KEY, order);
        uint256 before = plain.balanceOf(wallet);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Opened(order.orderId(), wallet, termsOf(order));
        vm.prank(stranger);
        bytes32 id = escrow.openFor(wallet, termsOf(order), proof);

        vm.assertEq(id, order.orderId(), "id");
        vm.assertEq(plain.balanceOf(address(escrow)), order.inputAmount, "held");
        vm.assertEq(before - plain.balanceOf(wallet), order.inputAmount, "paid");
        vm.assertEq(plain.allowance(wallet, address(escrow)), 0, "allowance");
        _isState(order, EscrowState.Opened);
    }

    function test_typedAndPersonalSignaturesOpenTheSameOrderOnce() public {
        for (uint8 kind = TYPED; kind <= PERSONAL; ++kind) {
            Order memory order = _order();
            order.swapKey = bytes32(uint256(kind));
            bytes memory first = _proof(kind, KEY, order);
            bytes memory second = _proof(kind == TYPED ? PERSONAL : TYPED, KEY, order);
            bytes memory again = abi.encodeWithSelector(IGeoEscrow.AlreadyOpened.selector, order.orderId());
            vm.assertEq(_openFor(order, first), order.orderId(), "id");
            vm.expectRevert(again);
            escrow.openFor(wallet, termsOf(order), first);
            vm.expectRevert(again);
            escrow.openFor(wallet, termsOf(order), second);
            _openReverts(order, again);
        }
        vm.assertEq(plain.balanceOf(address(escrow)), 2 * _order().inputAmount, "held");
    }

    function test_anOrderThatItsWalletOpenedItselfIsNotOpenedAgain() public {
        Order memory order = _order();
        _open(order);
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.AlreadyOpened.selector, order.orderId()));
        escrow.openFor(wallet, termsOf(order), proof);
    }

    function test_aDecidedOrderIsNotOpenedAgainBySignature() public {
        Order memory order = _order();
        bytes memory proof = _proof(TYPED, KEY, order);
        _openFor(order, proof);
        vm.warp(REFUND_AFTER);
        escrow.refund(order);
        vm.warp(NOW);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.AlreadyOpened.selector, order.orderId()));
        escrow.openFor(wallet, termsOf(order), proof);
    }

    function test_aNativeInputIsPaidByTheWalletItself() public {
        Order memory order = _order();
        order.inputToken = 0;
        uint256 before = wallet.balance;
        _openFor(order, _proof(TYPED, KEY, order));
        vm.assertEq(address(escrow).balance, order.inputAmount, "held");
        vm.assertEq(before - wallet.balance, order.inputAmount, "paid");
        _isState(order, EscrowState.Opened);
    }

    function test_theNativeTokenIsTakenOnlyWhileAnOrderIsOpened() public {
        vm.deal(stranger, 1);
        vm.expectRevert(IGeoEscrow.NotOpening.selector);
        vm.prank(stranger);
        (bool ok,) = address(escrow).call{value: 1}("");
        ok;
        vm.assertEq(address(escrow).balance, 0, "held");
    }

    function test_theDigestThatIsSignedIsTheTypedDataOfTheOrderOnThisChainInThisEscrow() public {
        Order memory order = _order();
        vm.assertEq(order.orderId(), typedHash(order), "id");
        for (uint256 chainId = 1; chainId < 5; ++chainId) {
            vm.chainId(chainId);
            bytes32 digest = _typedDigest(address(escrow), typedHash(order));
            vm.assertEq(escrow.typedDigest(order.orderId()), digest, "digest");
        }
    }

    function test_theTermsAreCheckedAsThoseOfAnOrderThatItsWalletOpens() public {
        Order memory order = _order();
        order.deadlines = packDeadlines(NOW - 1, FILL_DEADLINE, REFUND_AFTER);
        _signedReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidDeadlines.selector));
        order.deadlines = packDeadlines(OPEN_DEADLINE, FILL_DEADLINE, NOW + 3 days + 1);
        _signedReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidDeadlines.selector));
        order.deadlines = Deadlines.wrap(Deadlines.unwrap(_order().deadlines) | (1 << 192));
        _signedReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidDeadlines.selector));
        order = _order();
        order.inputAmount = 0;
        _signedReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidAmount.selector));
        order.inputAmount = uint256(type(uint128).max) + 1;
        _signedReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidAmount.selector));
        order = _order();
        order.minOutput = 0;
        _signedReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidAmount.selector));
        order = _order();
        order.inputToken = bytes32(uint256(order.inputToken) | (1 << 160));
        _signedReverts(order, abi.encodeWithSelector(NotAnAddress.selector, order.inputToken));
        order = _order();
        order.originVault = keccak256("no address");
        _signedReverts(order, abi.encodeWithSelector(NotAnAddress.selector, order.originVault));
    }

    function test_aSignedOrderOpensInTheSecondOfItsOpenDeadlineAndNotAfter() public {
        Order memory order = _order();
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.warp(OPEN_DEADLINE + 1);
        _openForReverts(order, proof, abi.encodeWithSelector(IGeoEscrow.InvalidDeadlines.selector));
        vm.warp(OPEN_DEADLINE);
        _openFor(order, proof);
    }

    function test_aWalletWithoutTheMoneyOpensNothing() public {
        Order memory order = _order();
        order.inputAmount = plain.balanceOf(wallet) + 1;
        _signedReverts(order, abi.encodeWithSelector(Token.InsufficientBalance.selector));
        order = _order();
        order.inputToken = 0;
        order.inputAmount = wallet.balance + 1;
        _signedReverts(order, abi.encodeWithSelector(IGeoAccount.PaymentFailed.selector));
    }

    function test_onlyTheExactInputOpensAnOrder() public {
        uint256 amount = _order().inputAmount;
        HostileWallet.Mode[3] memory modes =
            [HostileWallet.Mode.PayNothing, HostileWallet.Mode.PayTooLittle, HostileWallet.Mode.PayTooMuch];
        uint256[3] memory received = [0, amount - 1, amount + 1];
        for (uint256 i = 0; i < modes.length; ++i) {
            hostile.setMode(modes[i]);
            bytes memory reason = abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, amount, received[i]);
            _openForReverts(_hostileOrder(), "", reason);
            Order memory native = _hostileOrder();
            native.inputToken = 0;
            _openForReverts(native, "", reason);
        }
        vm.assertEq(plain.balanceOf(address(escrow)) + address(escrow).balance, 0, "kept");
    }

    function test_aWalletThatRevertsOpensNothing() public {
        HostileWallet.Mode[2] memory silent = [HostileWallet.Mode.RevertWithNothing, HostileWallet.Mode.InvalidOpcode];
        for (uint256 i = 0; i < silent.length; ++i) {
            hostile.setMode(silent[i]);
            vm.expectRevert(bytes(""));
            escrow.openFor{gas: 300_000}(address(hostile), termsOf(_hostileOrder()), "");
        }
        hostile.setMode(HostileWallet.Mode.Revert);
        _openForReverts(_hostileOrder(), "", abi.encodeWithSelector(HostileWallet.Refused.selector));
        hostile.setMode(HostileWallet.Mode.RevertWithAByte);
        _openForReverts(_hostileOrder(), "", hex"00");
        hostile.setMode(HostileWallet.Mode.RevertWithAFlood);
        vm.expectRevert();
        escrow.openFor(address(hostile), termsOf(_hostileOrder()), "");
        _isState(_hostileOrder(), EscrowState.None);
    }

    /// @dev `pay` returns nothing, so what comes back is not read. What counts is what arrived.
    function test_whatAWalletReturnsDoesNotCount() public {
        hostile.setMode(HostileWallet.Mode.ReturnGarbage);
        uint256 amount = _order().inputAmount;
        _openForReverts(_hostileOrder(), "", abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, amount, 0));
        hostile.setMode(HostileWallet.Mode.ReturnAFlood);
        _openFor(_hostileOrder(), "");
        vm.assertEq(plain.balanceOf(address(escrow)), amount, "held");
    }

    function test_aContractThatIsNoWalletOpensNothing() public {
        address[7] memory strangers = [
            address(plain),
            address(vault),
            address(escrow),
            address(router),
            address(manager),
            account,
            address(new Intruder())
        ];
        Order memory order = _order();
        for (uint256 i = 0; i < strangers.length; ++i) {
            plain.mint(strangers[i], order.inputAmount);
            vm.deal(strangers[i], 1e24);
            order.wallet = word(strangers[i]);
            for (uint256 native = 0; native < 2; ++native) {
                order.inputToken = native == 1 ? bytes32(0) : word(address(plain));
                bytes memory proof = _proof(TYPED, KEY, order);
                vm.expectRevert();
                escrow.openFor(strangers[i], termsOf(order), proof);
                _isState(order, EscrowState.None);
            }
        }
    }

    /// @dev As WETH9 does, whose fallback deposits.
    function test_aContractThatTakesAnyCallOpensNothing() public {
        Order memory order = _order();
        order.wallet = word(address(new TakesAnyCall()));
        plain.mint(unword(order.wallet), order.inputAmount);
        _openForReverts(
            order, "", abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, order.inputAmount, uint256(0))
        );
    }

    function test_anAccountWithoutCodeOpensNothing() public {
        Order memory order = _order();
        vm.etch(wallet, "");
        _approve(order);
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
        _isState(order, EscrowState.None);
        // The precompiles of the chain, and the zero address before them.
        for (uint160 i = 0; i <= 18; ++i) {
            order.wallet = word(address(i == 18 ? 0x100 : i));
            vm.expectRevert();
            escrow.openFor(unword(order.wallet), termsOf(order), proof);
            _isState(order, EscrowState.None);
        }
    }

    function test_aFeeOnTransferIsRefusedOnPayment() public {
        Order memory order = _order();
        order.inputToken = word(address(fee));
        fee.setFee(100);
        uint256 received = order.inputAmount * 99 / 100;
        _signedReverts(order, abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, order.inputAmount, received));
    }

    function test_aTokenThatReturnsNothingIsPaid() public {
        Order memory order = _order();
        order.inputToken = word(address(noReturn));
        _openFor(order, _proof(TYPED, KEY, order));
        vm.assertEq(noReturn.balanceOf(address(escrow)), order.inputAmount, "held");
    }

    function test_aTokenThatBlocksTheWalletOpensNothing() public {
        Order memory order = _order();
        order.inputToken = word(address(blocking));
        blocking.setBlocked(wallet, true);
        _signedReverts(order, abi.encodeWithSelector(BlockingToken.Blocked.selector));
        blocking.setQuiet(true);
        _signedReverts(order, abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(blocking)));
    }

    function test_aTokenWithoutCodeOpensNothing() public {
        Order memory order = _order();
        order.inputToken = word(_actor("no token"));
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
    }

    /// @dev The wallet pays for its order, and tries everything else beside it.
    function test_noCallGetsInWhileAWalletPays() public {
        HostileWallet.Mode[2] memory modes = [HostileWallet.Mode.CallAndPay, HostileWallet.Mode.PayAndCall];
        Order memory open = _order();
        _openFor(open, _proof(TYPED, KEY, open));
        for (uint256 i = 0; i < modes.length; ++i) {
            HostileWallet.Call[] memory calls = _intrusions(open);
            hostile.arm(modes[i], calls);
            uint256 before = plain.balanceOf(address(escrow));
            Order memory order = _hostileOrder();
            order.swapKey = bytes32(i);
            _openFor(order, "");
            vm.assertEq(plain.balanceOf(address(escrow)) - before, order.inputAmount, "held");
            vm.assertEq(hostile.attempts(), (i + 1) * calls.length, "tried");
            vm.assertEq(hostile.successes(), 0, "got in");
        }
        for (uint256 i = 0; i < hostile.attempts(); ++i) {
            vm.assertEq(
                bytes32(hostile.errors(i)),
                bytes32(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector),
                "for another reason"
            );
        }
        _isState(open, EscrowState.Opened);
    }

    /// @dev The wallet pays too little, and a second order, opened while it pays, would make it up.
    function test_twoOrdersOfAWalletCannotShareOnePayment() public {
        Order memory outer = _hostileOrder();
        Order memory inner = _hostileOrder();
        inner.inputAmount = 1;
        HostileWallet.Call[] memory calls = new HostileWallet.Call[](2);
        calls[0] = HostileWallet.Call(
            address(plain), 0, abi.encodeCall(Token.transfer, (address(escrow), outer.inputAmount - 1))
        );
        calls[1] = HostileWallet.Call(
            address(escrow), 0, abi.encodeCall(IGeoEscrow.openFor, (address(hostile), termsOf(inner), ""))
        );
        OnceOnly once = new OnceOnly();
        _delegate(address(hostile), address(once));
        OnceOnly(address(hostile)).arm(calls);
        _openForReverts(
            outer, "", abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, outer.inputAmount, outer.inputAmount - 1)
        );
        _isState(inner, EscrowState.None);
    }

    /// @dev A hostile wallet has an honest one's proof, and calls it in place of the escrow.
    function test_aWalletThatPaysCannotMakeAnotherPayForIt() public {
        Order memory honest = _order();
        bytes memory proof = _proof(TYPED, KEY, honest);
        HostileWallet.Call[] memory calls = new HostileWallet.Call[](1);
        calls[0] =
            HostileWallet.Call(wallet, 0, abi.encodeCall(IGeoPayer.pay, (honest.orderId(), termsOf(honest), proof)));
        hostile.arm(HostileWallet.Mode.CallAndPay, calls);
        _openFor(_hostileOrder(), "");
        vm.assertEq(bytes32(bytes4(hostile.errors(0))), bytes32(IGeoAccount.OnlyEscrow.selector), "for another reason");
        vm.assertEq(plain.balanceOf(address(escrow)), _hostileOrder().inputAmount, "held");
        _isState(honest, EscrowState.None);
        _openFor(honest, proof);
    }

    function test_aTokensHookDoesNotGetInWhileAWalletPays() public {
        Order memory order = _order();
        order.inputToken = word(address(hook));
        hook.setHook(intruder);
        HostileWallet.Call[] memory wanted = _intrusions(_order());
        Intruder.Call[] memory calls = new Intruder.Call[](wanted.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            calls[i] = Intruder.Call(wanted[i].target, wanted[i].value, wanted[i].data);
        }
        intruder.arm(calls);
        _openFor(order, _proof(TYPED, KEY, order));
        vm.assertEq(intruder.attempts(), calls.length, "tried");
        vm.assertEq(intruder.successes(), 0, "got in");
        vm.assertEq(hook.balanceOf(address(escrow)), order.inputAmount, "held");
    }

    function _signedReverts(Order memory order, bytes memory reason) private {
        _openForReverts(order, _proof(TYPED, KEY, order), reason);
    }

    function _hostileOrder() private view returns (Order memory order) {
        order = _order();
        order.wallet = word(address(hostile));
    }

    /// @dev Every function of the escrow that changes anything.
    function _intrusions(Order memory open) private view returns (HostileWallet.Call[] memory calls) {
        Order memory next = _hostileOrder();
        next.swapKey = keccak256("next");
        Order[] memory list = _list(open, open);
        Opening[] memory openings = new Opening[](1);
        openings[0] = _opening(next, 100_000, "");
        bytes[12] memory data = [
            abi.encodeCall(IGeoEscrow.openFor, (address(hostile), termsOf(next), "")),
            abi.encodeCall(IGeoEscrow.openMany, (openings)),
            abi.encodeCall(IGeoEscrow.openMany, (new Opening[](0))),
            abi.encodeCall(IGeoEscrow.open, (termsOf(next))),
            abi.encodeCall(IGeoEscrow.claim, (address(plain), address(hostile))),
            abi.encodeCall(IGeoEscrow.claimTo, (address(plain), address(hostile))),
            abi.encodeCall(IGeoEscrow.refund, (open)),
            abi.encodeCall(IGeoEscrow.release, (open, _releaseAttestation(open))),
            abi.encodeCall(IGeoEscrow.releaseMany, (list, _attest(escrow.releaseDigest(_ids(list))))),
            abi.encodeCall(IGeoEscrow.refundEarly, (open, _refundAttestation(open))),
            abi.encodeCall(IGeoEscrow.refundMany, (list, _attest(escrow.refundDigest(_ids(list))))),
            abi.encodeCall(IGeoEscrow.releaseFilled, (open))
        ];
        calls = new HostileWallet.Call[](data.length);
        for (uint256 i = 0; i < data.length; ++i) {
            calls[i] = HostileWallet.Call(address(escrow), 0, data[i]);
        }
    }
}

contract TakesAnyCall {
    fallback() external payable {}
}

/// @dev Makes its calls when it is first called to pay, and pays one unit when it is called again.
contract OnceOnly {
    HostileWallet.Call[] private _calls;

    function arm(HostileWallet.Call[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; ++i) {
            _calls.push(calls[i]);
        }
    }

    fallback() external {
        HostileWallet.Call[] memory calls = _calls;
        delete _calls;
        if (calls.length == 0) Token(address(uint160(uint256(bytes32(msg.data[36:68]))))).transfer(msg.sender, 1);
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool ok,) = calls[i].target.call(calls[i].data);
            ok;
        }
    }
}
