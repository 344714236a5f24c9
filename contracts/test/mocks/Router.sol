// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ISwapRouter} from "../../src/interfaces/ISwapRouter.sol";
import {Token} from "./Token.sol";

/// @dev WETH9, as far as the vault uses it.
contract WrappedNative is Token {
    error RefusedByVault();

    constructor() {
        decimals = 18;
    }

    function deposit() external payable {
        balanceOf[msg.sender] += msg.value;
    }

    function withdraw(uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        (bool ok,) = msg.sender.call{value: amount}("");
        if (!ok) revert RefusedByVault();
    }
}

/// @dev Where what a swap pays out comes from.
contract Pools {
    using SafeERC20 for IERC20;

    function pay(address token, address to, uint256 amount) external {
        IERC20(token).safeTransfer(to, amount);
    }
}

/// @dev Swaps at the configured rate, and records the requested path.
contract Router is ISwapRouter {
    using SafeERC20 for IERC20;

    error TooLittleOut();

    Pools public immutable POOLS = new Pools();
    /// Out per in, in bps.
    uint256 public rateBps = 10_000;
    /// What the first pool takes of the budget, in bps.
    uint256 public takenBps = 10_000;
    /// The amount by which the router overstates what was paid.
    uint256 public lie;
    /// What the second pool leaves behind in the router.
    uint256 public stranded;
    /// What is paid, if it is not by the rate.
    uint256 public exactOut;
    /// Who is paid, if not the recipient.
    address public payee;
    bytes public path;

    function set(uint256 rate, uint256 taken, uint256 lie_, uint256 stranded_) external {
        (rateBps, takenBps, lie, stranded) = (rate, taken, lie_, stranded_);
    }

    function setExactOut(uint256 value) external {
        exactOut = value;
    }

    function setPayee(address value) external {
        payee = value;
    }

    function exactInput(ExactInputParams calldata params) external payable returns (uint256 amountOut) {
        path = params.path;
        bytes calldata p = params.path;
        uint256 taken = params.amountIn * takenBps / 10_000;
        IERC20(address(bytes20(p[:20]))).safeTransferFrom(msg.sender, address(POOLS), taken);
        uint256 paid = exactOut == 0 ? taken * rateBps / 10_000 : exactOut;
        amountOut = paid + lie;
        if (amountOut < params.amountOutMinimum) revert TooLittleOut();
        if (stranded != 0) POOLS.pay(address(bytes20(p[23:43])), address(this), stranded);
        POOLS.pay(address(bytes20(p[p.length - 20:])), payee == address(0) ? params.recipient : payee, paid);
    }
}
