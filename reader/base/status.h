// Status and Result<T>: errors as values, with absl's vocabulary.
//
// Failures start in worker threads and must cross queues and ranks, and damaged data is normal
// input for us, so an error is part of the signature and never an exception. Each code maps to
// one exit code of the programs (ExitCode below). Values of both types may be moved between
// threads; one object is not for concurrent use.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace shardmill {

enum class StatusCode {
  kOk = 0,
  kInvalidArgument,  // a bad option, configuration or call
  kNotFound,         // an input that should exist does not
  kIo,               // the operating system refused a read, write, open, …
  kDataLoss,         // stored or source data is damaged
  kUnavailable,      // GPU, driver or peer rank is missing or gone
  kCancelled,        // the user or the caller asked to stop
  kInternal,         // our bug
};

// "InvalidArgument", "DataLoss", …
std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "context: message", the same code. An OK status stays OK. Used at each boundary that knows
  // more than the place that failed: the file, the shard, the record.
  Status WithContext(std::string_view context) const;

  // "DataLoss: message", or "OK".
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }
Status InvalidArgumentError(std::string message);
Status NotFoundError(std::string message);
Status IoError(std::string message);
Status DataLossError(std::string message);
Status UnavailableError(std::string message);
Status CancelledError(std::string message);
Status InternalError(std::string message);

// An I/O error that ends in the operating system's words for `error_number` (an errno value).
Status ErrnoError(std::string_view what, int error_number);

// The exit code of a program that stops on this status: 0 OK, 1 internal, 2 usage or
// configuration, 3 missing input or I/O, 4 damaged data, 5 GPU or communication, 130 cancelled.
int ExitCode(const Status& status);

namespace internal {
// Prints "file:line: CHECK failed: …" and aborts. For our own bugs only, never for input.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression);
}  // namespace internal

#define SHARDMILL_CHECK(condition)                                                        \
  do {                                                                                    \
    if (!(condition)) ::shardmill::internal::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

// A value, or the error that prevented it. Access without ok() is a bug and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit, so that `return value;` works
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit, for RETURN_IF_ERROR
    SHARDMILL_CHECK(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & {
    SHARDMILL_CHECK(ok());
    return *value_;
  }
  const T& value() const& {
    SHARDMILL_CHECK(ok());
    return *value_;
  }
  T&& value() && {
    SHARDMILL_CHECK(ok());
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

#define SHARDMILL_CONCAT_INNER(a, b) a##b
#define SHARDMILL_CONCAT(a, b) SHARDMILL_CONCAT_INNER(a, b)

// Leaves the function with the status when the expression is not OK.
#define RETURN_IF_ERROR(expression)                                                          \
  do {                                                                                       \
    if (::shardmill::Status status_of_expression = (expression); !status_of_expression.ok()) \
      return status_of_expression;                                                           \
  } while (false)

// ASSIGN_OR_RETURN(auto value, Compute()): leaves the function when Compute() failed.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_INNER(SHARDMILL_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.ok()) return result.status();                     \
  declaration = std::move(result).value()

}  // namespace shardmill
