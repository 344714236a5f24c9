// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Deadlines, NotAnAddress, Order} from "../../src/Order.sol";
import {EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {packDeadlines, termsOf, word} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Token} from "../mocks/Token.sol";

contract GeoEscrowOpenTest is Scene {
    function test_anOrderIsOpenedWithItsInputHeldWhole() public {
        Order memory order = _order();
        _approve(order);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Opened(order.orderId(), wallet, termsOf(order));
        vm.prank(wallet);
        bytes32 id = escrow.open(termsOf(order));

        vm.assertEq(id, order.orderId(), "id");
        vm.assertEq(plain.balanceOf(address(escrow)), order.inputAmount, "held");
        vm.assertEq(plain.allowance(wallet, address(escrow)), 0, "allowance left");
        _isState(order, EscrowState.Opened);
    }

    function test_aNativeOrderIsOpenedWithItsValue() public {
        Order memory order = _order();
        order.inputToken = 0;
        _open(order);
        vm.assertEq(address(escrow).balance, order.inputAmount, "held");
        _isState(order, EscrowState.Opened);
    }

    function test_aTokenThatReturnsNothingIsTaken() public {
        Order memory order = _order();
        order.inputToken = word(address(noReturn));
        _open(order);
        vm.assertEq(noReturn.balanceOf(address(escrow)), order.inputAmount, "held");
    }

    function test_anOrderOpensOnce() public {
        Order memory order = _order();
        _open(order);
        _openReverts(order, abi.encodeWithSelector(IGeoEscrow.AlreadyOpened.selector, order.orderId()));
    }

    function test_aDecidedOrderDoesNotOpenAgain() public {
        Order memory order = _order();
        _open(order);
        escrow.refundEarly(order, _refundAttestation(order));
        _openReverts(order, abi.encodeWithSelector(IGeoEscrow.AlreadyOpened.selector, order.orderId()));
    }

    function test_anOrderBelongsToWhoOpensIt() public {
        Order memory order = _order();
        plain.mint(stranger, order.inputAmount);
        vm.prank(stranger);
        plain.approve(address(escrow), order.inputAmount);
        vm.prank(stranger);
        bytes32 id = escrow.open(termsOf(order));
        vm.assertNotEq(id, order.orderId(), "a stranger opened the wallet's order");
        _isState(order, EscrowState.None);
    }

    function test_anOrderOpensInTheSecondOfItsOpenDeadline() public {
        vm.warp(OPEN_DEADLINE);
        _open(_order());
    }

    function test_anOrderDoesNotOpenAfterItsOpenDeadline() public {
        vm.warp(OPEN_DEADLINE + 1);
        _openReverts(_order(), abi.encodeWithSelector(IGeoEscrow.InvalidDeadlines.selector));
    }

    function test_anInputIsKeptNoLongerThanThreeDays() public {
        Order memory order = _order();
        order.deadlines = packDeadlines(OPEN_DEADLINE, FILL_DEADLINE, NOW + 3 days + 1);
        _openReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidDeadlines.selector));
        order.deadlines = packDeadlines(OPEN_DEADLINE, FILL_DEADLINE, NOW + 3 days);
        _open(order);
    }

    function test_deadlinesFollowOneAnother() public {
        Deadlines[4] memory wrong = [
            packDeadlines(FILL_DEADLINE, FILL_DEADLINE, REFUND_AFTER),
            packDeadlines(OPEN_DEADLINE, FILL_DEADLINE, FILL_DEADLINE),
            packDeadlines(OPEN_DEADLINE, OPEN_DEADLINE - 1, REFUND_AFTER),
            Deadlines.wrap(Deadlines.unwrap(packDeadlines(OPEN_DEADLINE, FILL_DEADLINE, REFUND_AFTER)) | (1 << 192))
        ];
        Order memory order = _order();
        for (uint256 i = 0; i < wrong.length; ++i) {
            order.deadlines = wrong[i];
            _openReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidDeadlines.selector));
        }
    }

    function test_anOrderOfNothingOrForNothingOrTooMuchIsRefused() public {
        Order memory order = _order();
        order.inputAmount = 0;
        _openReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidAmount.selector));
        order = _order();
        order.minOutput = 0;
        _openReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidAmount.selector));
        order = _order();
        order.inputAmount = uint256(type(uint128).max) + 1;
        _openReverts(order, abi.encodeWithSelector(IGeoEscrow.InvalidAmount.selector));
    }

    function test_aVaultOrTokenThatIsNoAddressIsRefused() public {
        Order memory order = _order();
        order.originVault = keccak256("no address");
        _openReverts(order, abi.encodeWithSelector(NotAnAddress.selector, order.originVault));
        order = _order();
        _approve(order);
        order.inputToken = bytes32(uint256(order.inputToken) | (1 << 160));
        vm.expectRevert(abi.encodeWithSelector(NotAnAddress.selector, order.inputToken));
        vm.prank(wallet);
        escrow.open(termsOf(order));
    }

    function test_aFeeOnTransferIsRefused() public {
        Order memory order = _order();
        order.inputToken = word(address(fee));
        fee.setFee(100);
        _openReverts(
            order,
            abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, order.inputAmount, order.inputAmount * 99 / 100)
        );
    }

    function test_aNativeOrderTakesItsExactValue() public {
        Order memory order = _order();
        order.inputToken = 0;
        for (uint256 value = order.inputAmount - 1; value <= order.inputAmount + 1; value += 2) {
            vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, order.inputAmount, value));
            vm.prank(wallet);
            escrow.open{value: value}(termsOf(order));
        }
    }

    function test_aTokenOrderTakesNoValue() public {
        Order memory order = _order();
        _approve(order);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, 0, 1));
        vm.prank(wallet);
        escrow.open{value: 1}(termsOf(order));
    }

    function test_aTokenWithoutAllowanceOrCodeIsRefused() public {
        Order memory order = _order();
        vm.expectRevert(Token.InsufficientAllowance.selector);
        vm.prank(wallet);
        escrow.open(termsOf(order));

        order.inputToken = word(_actor("no token"));
        vm.expectRevert();
        vm.prank(wallet);
        escrow.open(termsOf(order));
    }

    function test_aTokenThatReturnsFalseIsRefused() public {
        Order memory order = _order();
        order.inputToken = word(address(new FalseToken()));
        vm.expectRevert(
            abi.encodeWithSelector(
                SafeERC20.SafeERC20FailedOperation.selector, address(uint160(uint256(order.inputToken)))
            )
        );
        vm.prank(wallet);
        escrow.open(termsOf(order));
    }

    function test_noCallGetsInWhileAnOrderIsOpened() public {
        Order memory order = _order();
        order.inputToken = word(address(hook));
        hook.setHook(intruder);
        Intruder.Call[] memory calls = new Intruder.Call[](1);
        calls[0] = Intruder.Call(address(escrow), 0, abi.encodeCall(IGeoEscrow.refund, (order)));
        intruder.arm(calls);
        _open(order);
        vm.assertEq(intruder.attempts(), 1, "tried");
        vm.assertEq(intruder.successes(), 0, "got in");
        vm.assertEq(
            bytes32(bytes4(intruder.lastError())),
            bytes32(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector),
            "for another reason"
        );
    }

    /// @dev The first order's transfer brings too little, and a second one, opened out of its hook, makes it up.
    function test_twoOrdersCannotShareOneDeposit() public {
        Order memory outer = _order();
        outer.inputToken = word(address(hook));
        outer.wallet = word(address(intruder));
        Order memory inner = _order();
        inner.inputToken = outer.inputToken;
        inner.wallet = outer.wallet;
        inner.inputAmount = outer.inputAmount / 100;
        hook.mint(address(intruder), 1e24);
        hook.setHook(intruder);
        hook.setFee(100);
        Intruder.Call[] memory calls = new Intruder.Call[](3);
        calls[0] = Intruder.Call(address(hook), 0, abi.encodeCall(hook.setFee, (0)));
        calls[1] = Intruder.Call(address(hook), 0, abi.encodeCall(hook.approve, (address(escrow), inner.inputAmount)));
        calls[2] = Intruder.Call(address(escrow), 0, abi.encodeCall(IGeoEscrow.open, (termsOf(inner))));
        intruder.arm(calls);
        _openReverts(
            outer,
            abi.encodeWithSelector(IGeoEscrow.WrongAmount.selector, outer.inputAmount, outer.inputAmount * 99 / 100)
        );
        _isState(inner, EscrowState.None);
    }
}

contract FalseToken {
    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function transferFrom(address, address, uint256) external pure returns (bool) {
        return false;
    }
}
