// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title DevTokenWithoutReturn
/// @notice A token for development chains with two properties of USDT. Its calls return nothing, and an allowance can
/// only be set if it is zero. Anyone may mint it.
contract DevTokenWithoutReturn {
    /// @notice Tokens moved.
    event Transfer(address indexed from, address indexed to, uint256 value);
    /// @notice An allowance was set.
    event Approval(address indexed owner, address indexed spender, uint256 value);

    /// @notice An allowance stands; set it to zero first.
    error AllowanceStands();

    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
    }

    /// @notice Makes tokens out of nothing.
    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    /// @notice Sets an allowance where none stands, or clears one.
    function approve(address spender, uint256 amount) external {
        if (amount != 0 && allowance[msg.sender][spender] != 0) revert AllowanceStands();
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
    }

    /// @notice Moves the caller's tokens.
    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    /// @notice Moves tokens of an account that allowed it.
    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }
}
