#include "conformance/worker_pool.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <format>
#include <memory>
#include <optional>
#include <utility>

#include "base/failure.h"

namespace lapilli::conformance {
namespace {

using Clock = std::chrono::steady_clock;

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { reset(); }

  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

struct Pipe {
  FileDescriptor read, write;

  static Pipe open() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) fail(ErrorCode::internal, "no pipe for a worker: {}", std::strerror(errno));
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  }
};

// False when the other end is gone.
bool read_all(int file, void* data, std::size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = read(file, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int file, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = write(file, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_text(int file, const std::string& text) {
  const std::size_t size = text.size();
  return write_all(file, &size, sizeof size) && write_all(file, text.data(), size);
}

std::optional<std::string> read_text(int file) {
  std::size_t size = 0;
  if (!read_all(file, &size, sizeof size)) return std::nullopt;
  std::string text(size, '\0');
  if (!read_all(file, text.data(), size)) return std::nullopt;
  return text;
}

// The life of a worker's process: says that it is ready (or why not), then answers tasks until there are no more.
void serve(int requests, int responses, const std::function<Worker()>& make_worker) {
  Worker worker;
  try {
    worker = make_worker();
  } catch (const std::exception& error) {
    write_text(responses, error.what());
    return;
  }
  if (!write_text(responses, {})) return;
  std::size_t task = 0;
  while (read_all(requests, &task, sizeof task)) {
    try {
      if (!write_text(responses, worker(task))) return;
    } catch (const std::exception& error) {
      write_text(responses, error.what());
      return;
    }
  }
}

struct Process {
  pid_t id;
  FileDescriptor requests, responses;
  bool ready = false;
  std::optional<std::size_t> task;
  Clock::time_point started;
};

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return std::format("crashed: {}", strsignal(WTERMSIG(status)));
  return std::format("its process ended with status {}", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

class Pool {
 public:
  Pool(std::size_t count, const PoolOptions& options, const std::function<Worker()>& make_worker,
       const std::function<void(const TaskResult&)>& finished)
      : count_(count), options_(options), make_worker_(make_worker), finished_(finished) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  ~Pool() {
    for (Process& process : processes_) process.requests.reset();  // a worker without requests ends by itself
    for (const Process& process : processes_) {
      if (process.task) kill(process.id, SIGKILL);
      waitpid(process.id, nullptr, 0);
    }
  }

  void run() {
    while (processes_.size() < std::min(options_.workers, count_)) start();
    while (done_ < count_) {
      std::vector<pollfd> waits;
      for (const Process& process : processes_) waits.push_back({process.responses.number(), POLLIN, 0});
      poll(waits.data(), waits.size(), 200);
      for (std::size_t i = 0; i < waits.size() && done_ < count_; ++i) {
        if (waits[i].revents != 0) {
          hear(processes_[i]);
        } else if (processes_[i].task && Clock::now() - processes_[i].started > options_.time_limit) {
          kill(processes_[i].id, SIGKILL);
          replace(processes_[i], std::format("not finished after {} s", options_.time_limit.count() / 1000));
        }
      }
    }
  }

 private:
  void start() {
    Pipe requests = Pipe::open(), responses = Pipe::open();
    const pid_t parent = getpid();
    const pid_t id = fork();
    if (id < 0) fail(ErrorCode::internal, "no process for a worker: {}", std::strerror(errno));
    if (id == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      // A pipe to another worker that stayed open here would keep that one from seeing its end.
      for (Process& other : processes_) other.requests.reset();
      requests.write.reset();
      responses.read.reset();
      serve(requests.read.number(), responses.write.number(), make_worker_);
      _exit(0);
    }
    processes_.push_back({id, std::move(requests.write), std::move(responses.read), false, std::nullopt, {}});
  }

  void hear(Process& process) {
    const std::optional<std::string> text = read_text(process.responses.number());
    if (!text) {
      replace(process, "");
      return;
    }
    if (!process.ready && !text->empty()) fail(ErrorCode::no_device, "{}", *text);
    process.ready = true;
    if (process.task) finish(process, *text);
    give_task(process);
  }

  void finish(Process& process, const std::string& error) {
    const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - process.started).count();
    ++done_;
    finished_({*std::exchange(process.task, std::nullopt), error, milliseconds});
  }

  void give_task(Process& process) {
    if (next_ == count_) return;
    process.task = next_++;
    process.started = Clock::now();
    // When the process has just ended, its pipe says so at the next look.
    write_all(process.requests.number(), &*process.task, sizeof *process.task);
  }

  // A process that has ended or was told to: its task has failed, and another process takes its place.
  void replace(Process& process, const std::string& reason) {
    int status = 0;
    waitpid(process.id, &status, 0);
    const std::string error = reason.empty() ? end_text(status) : reason;
    if (!process.ready) fail(ErrorCode::internal, "a worker could not start: {}", error);
    if (process.task) finish(process, error);
    const auto place = static_cast<std::size_t>(&process - processes_.data());
    processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(place));
    start();
    std::swap(processes_[place], processes_.back());
  }

  std::size_t count_;
  PoolOptions options_;
  const std::function<Worker()>& make_worker_;
  const std::function<void(const TaskResult&)>& finished_;
  std::vector<Process> processes_;
  std::size_t next_ = 0, done_ = 0;
};

}  // namespace

void run_in_processes(std::size_t count, const PoolOptions& options, const std::function<Worker()>& make_worker,
                      const std::function<void(const TaskResult&)>& finished) {
  if (count == 0) return;
  signal(SIGPIPE, SIG_IGN);
  Pool(count, options, make_worker, finished).run();
}

}  // namespace lapilli::conformance
